import { contextHash } from '../model/context-hash.ts'
import type { DocumentReader } from '../model/view.ts'
import type { PreconditionFailure } from './answers.ts'
import type { AiEnvelopeRequest } from './request.ts'
import { attemptOf, MAX_RETRIES, retryDelayMs, retryId } from './retry-delay.ts'

/** The current state of a span in a conflicting request. */
export type SpanNow =
  | { readonly spanId: string; readonly state: 'unchanged' | 'changed'; readonly text: string; readonly hash: string }
  | { readonly spanId: string; readonly state: Extract<PreconditionFailure, 'span_missing' | 'unverified'> }

/** The next step after a conflict. */
export type Rebase =
  /** Every span still has the expected text. Send the same operations again. */
  | { readonly kind: 'mechanical'; readonly request: AiEnvelopeRequest; readonly delayMs: number }
  /** The model must decide. Its new envelope is the retry, with the id `retryId`. */
  | {
      readonly kind: 'ask'
      readonly retryId: string
      readonly delayMs: number
      readonly frontier: string
      readonly spans: readonly SpanNow[]
    }
  | { readonly kind: 'exhausted'; readonly code: 'RETRY_EXHAUSTED'; readonly attempts: number }

/** Decides how to retry a request after a conflict. `document`: the document after the conflict. */
export function rebase(request: AiEnvelopeRequest, document: DocumentReader): Rebase {
  const { first, retry: made } = attemptOf(request.client_request_id)
  if (made >= MAX_RETRIES) return { kind: 'exhausted', code: 'RETRY_EXHAUSTED', attempts: made + 1 }
  const spans = request.preconditions.map(({ span_id, if_match_context_hash }) =>
    spanNow(span_id, if_match_context_hash, document),
  )
  const id = retryId(first, made + 1)
  const delayMs = retryDelayMs(made + 1)
  if (spans.some(({ state }) => state !== 'unchanged'))
    return { kind: 'ask', retryId: id, delayMs, frontier: document.frontier, spans }
  return {
    kind: 'mechanical',
    request: { ...request, client_request_id: id, doc_frontier: document.frontier },
    delayMs,
  }
}

function spanNow(spanId: string, expected: string, document: DocumentReader): SpanNow {
  const span = document.span(spanId)
  if (span.kind === 'missing') return { spanId, state: 'span_missing' }
  if (span.kind === 'unreadable') return { spanId, state: 'unverified' }
  const hash = contextHash(span.blockId, span.text)
  return { spanId, state: hash === expected ? 'unchanged' : 'changed', text: span.text, hash }
}
