import { type EnvelopeAnswer, type RefusedAnswer, refused } from './answers.ts'
import { type AiEnvelopeRequest, payloadHash } from './request.ts'

/** An answered request, stored per document, caller and `client_request_id`. */
export interface AnsweredRequest {
  readonly payloadHash: string
  readonly answer: EnvelopeAnswer
}

/** Compares a request with the earlier request of the same id. `repeated`: same payload; `reused`: another payload. */
export function idUse(request: AiEnvelopeRequest, answered: AnsweredRequest | null): 'new' | 'repeated' | 'reused' {
  if (answered === null) return 'new'
  return answered.payloadHash === payloadHash(request) ? 'repeated' : 'reused'
}

export const REUSED: RefusedAnswer = refused(
  'AI_IDEMPOTENCY_KEY_REUSED',
  'client_request_id: it was used with another payload; send a new id, for a retry "<id>-retry-<n>"',
)
