import { type BlockContent, blockText } from '../model/block.ts'
import type { Edit } from '../model/edits.ts'
import { plainText } from '../model/runs.ts'
import type { Caller, DocumentPorts } from './types.ts'

/**
 * Whether one of some texts holds a secret: one that this host knows, or one of the run behind the request. A document is
 * read by everyone who may open it and nothing in it can be taken back, so no secret may enter it.
 */
export async function holdsSecret(
  ports: Pick<DocumentPorts, 'holdsSecret'>,
  caller: Pick<Caller, 'holdsSecret'>,
  texts: readonly string[],
): Promise<boolean> {
  const text = texts.join('\n')
  return caller.holdsSecret?.(text) === true || (await ports.holdsSecret?.(text)) === true
}

/** All words of blocks: as a reader sees them, without the marks that part them, and with their attributes. */
export const wordsOf = (blocks: readonly BlockContent[]): string[] =>
  blocks.flatMap((block) => [blockText(block), JSON.stringify(block)])

/** All words that edits bring. XML can write a text in many ways; these are the words that it means. */
export const wordsOfEdits = (edits: readonly Edit[]): string[] =>
  edits.flatMap((edit) => {
    if (edit.kind === 'insert') return wordsOf(edit.blocks)
    return edit.kind === 'replace' ? [plainText(edit.runs), JSON.stringify(edit.runs)] : []
  })
