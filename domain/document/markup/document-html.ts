import type { ReadBlock } from '../../ports/index.ts'
import type { BlockContent, DocumentBlock } from '../model/block.ts'
import { type Diagnostic, Diagnostics } from './diagnostics.ts'
import { hostileReason } from './hostile.ts'
import { htmlText } from './html.ts'
import { normalizeBlocks } from './normalize.ts'
import { renderBlocks } from './render.ts'
import { DOCUMENT_RULES } from './rules.ts'
import { sanitize } from './sanitize.ts'
import { schemaChecked } from './schema.ts'
import { element, type Node } from './tree.ts'

/** A document as HTML that is also valid XML. Escapes all text. Omits blocks outside the document model. */
export const toHtml = (blocks: readonly ReadBlock[]): string =>
  htmlText(renderBlocks(blocks.filter((block): block is DocumentBlock => block.type !== 'unreadable')))

/** The content of a new document from parsed HTML. `fault`: why the HTML cannot be a document. */
export function contentOf(
  children: readonly Node[],
):
  | { readonly blocks: readonly BlockContent[]; readonly diagnostics: readonly Diagnostic[] }
  | { readonly fault: string } {
  const hostile = hostileReason(element('body', children))
  if (hostile !== null) return { fault: hostile }
  const found = new Diagnostics()
  const { blocks, fault } = schemaChecked(normalizeBlocks(sanitize(children, found, DOCUMENT_RULES)))
  return fault === null ? { blocks, diagnostics: found.list() } : { fault }
}
