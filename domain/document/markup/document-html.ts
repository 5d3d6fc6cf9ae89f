import type { MarkupParser, ReadBlock } from '../../ports.ts'
import type { Block, BlockContent } from '../model/block.ts'
import { type Diagnostic, Diagnostics } from './diagnostics.ts'
import { hostileReason } from './hostile.ts'
import { htmlText } from './html.ts'
import { MARKUP_LIMITS } from './limits.ts'
import { normalizeBlocks } from './normalize.ts'
import { renderBlocks } from './render.ts'
import { sanitize } from './sanitize.ts'
import { schemaChecked } from './schema.ts'
import { element } from './tree.ts'

/** A document as HTML that is also XML. Every text is escaped; blocks outside the document model are left out. */
export const toHtml = (blocks: readonly ReadBlock[]): string =>
  htmlText(renderBlocks(blocks.filter((block): block is Block => block.type !== 'unreadable')))

/**
 * What HTML holds for a new document, under the gateway's rules: dividers and the languages of code are not among them. The
 * HTML is well-formed XML. `fault` says why it cannot be a document.
 */
export function fromHtml(
  html: string,
  parse: MarkupParser,
):
  | { readonly blocks: readonly BlockContent[]; readonly diagnostics: readonly Diagnostic[] }
  | { readonly fault: string } {
  const parsed = parse(`<body>${html}</body>`, MARKUP_LIMITS)
  if (parsed.kind !== 'tree') return { fault: `the HTML ${parsed.message}` }
  const { children } = parsed.root
  const hostile = hostileReason(element('body', children))
  if (hostile !== null) return { fault: hostile }
  const found = new Diagnostics()
  const { blocks, fault } = schemaChecked(normalizeBlocks(sanitize(children, found)))
  return fault === null ? { blocks, diagnostics: found.list() } : { fault }
}
