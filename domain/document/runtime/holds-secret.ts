import { type BlockContent, blockText } from '../model/block.ts'
import type { Edit } from '../model/edits.ts'
import { plainText } from '../model/runs.ts'
import type { DocumentCaller, DocumentPorts } from './types.ts'

/**
 * Whether a text contains a secret that this host or the requesting run knows. A document is readable by everyone with
 * access, and its content cannot be removed, so no secret may enter it.
 */
export async function holdsSecret(
  ports: Pick<DocumentPorts, 'holdsSecret'>,
  caller: Pick<DocumentCaller, 'holdsSecret'>,
  texts: readonly string[],
): Promise<boolean> {
  const text = texts.join('\n')
  return caller.holdsSecret?.(text) === true || (await ports.holdsSecret?.(text)) === true
}

/**
 * All text of blocks: once as a reader sees it, without the marks that could split a secret, and once with attributes.
 */
export const searchedTexts = (blocks: readonly BlockContent[]): string[] =>
  blocks.flatMap((block) => [blockText(block), JSON.stringify(block)])

/** All text that edits add. XML can encode a text in many ways; this is the decoded text. */
export const wordsOfEdits = (edits: readonly Edit[]): string[] =>
  edits.flatMap((edit) => {
    if (edit.kind === 'insert') return searchedTexts(edit.blocks)
    return edit.kind === 'replace' ? [plainText(edit.runs), JSON.stringify(edit.runs)] : []
  })
