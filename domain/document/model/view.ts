import type { BlockType } from './block.ts'
import type { Frontier, FrontierRelation } from './frontier.ts'

/** A span for the gateway's checks. `unreadable`: the span exists, but its content is outside the document model. */
export type SpanView =
  | { readonly kind: 'missing' }
  | { readonly kind: 'unreadable' }
  | {
      readonly kind: 'block' | 'cell'
      readonly blockId: string
      readonly type: BlockType
      /** The text that the context hash covers; see `blockText`. */
      readonly text: string
    }

/** A read-only, synchronous view of a document at one revision, for the checks. */
export interface DocumentReader {
  readonly frontier: string
  relation(client: Frontier): FrontierRelation
  span(spanId: string): SpanView
}

/** Caches the spans of a document. The document must not change while the cache is in use. */
export function readOnce(document: DocumentReader): DocumentReader {
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
