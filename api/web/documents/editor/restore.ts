import './no-compiling.ts'

import { SharedDocument } from './shared-document.ts'

/**
 * Gives a document the content of an earlier version by new changes. Resolves when the server has them, and rejects if it refuses them.
 *
 * @param frontier as the view of the earlier revision has it
 */
export async function restoreVersion(documentId: string, frontier: string): Promise<void> {
  const document = await SharedDocument.open(documentId)
  try {
    document.restore(frontier)
    await document.settled()
  } finally {
    document.end()
  }
}
