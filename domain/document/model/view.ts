import type { BlockType } from './block.ts'
import type { Frontier, FrontierRelation } from './frontier.ts'

/** A span as the gateway's checks see it. `unreadable`: it is there, but its content lies outside the document model. */
export type SpanView =
  | { readonly kind: 'missing' }
  | { readonly kind: 'unreadable' }
  | {
      readonly kind: 'block' | 'cell'
      readonly blockId: string
      readonly type: BlockType
      /** As the context hash covers it; see `blockText`. */
      readonly text: string
    }

/** The view of a document at one revision that the checks need: read-only and synchronous. */
export interface DocumentView {
  readonly frontier: string
  relation(client: Frontier): FrontierRelation
  span(spanId: string): SpanView
}

/** The same document, each span of which is read once. The document must not change while it is used. */
export function readOnce(document: DocumentView): DocumentView {
  const spans = new Map<string, SpanView>()
  return {
    frontier: document.frontier,
    relation: (client) => document.relation(client),
    span(spanId) {
      const known = spans.get(spanId) ?? document.span(spanId)
      spans.set(spanId, known)
      return known
    },
  }
}
