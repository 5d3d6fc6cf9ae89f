import { ToolError } from '../../../calls/errors.ts'
import type { FileChange, Versions } from '../../../ports/index.ts'

/** The differences between two trees; null if the files of one are lost, which must not stop a run. */
export async function changesBetween(
  versions: Versions,
  from: string,
  to: string,
): Promise<readonly FileChange[] | null> {
  try {
    return await versions.changes(from, to)
  } catch (error) {
    if (error instanceof ToolError) return null
    throw error
  }
}
