import { byteLength } from '../../calls/truncate.ts'
import { echo } from '../../log/issues.ts'
import type { MarkupParser } from '../../ports/index.ts'
import { hostileReason } from '../markup/hostile.ts'
import { MARKUP_LIMITS } from '../markup/limits.ts'
import type { Element } from '../markup/tree.ts'
import { type RefusedAnswer, refused } from './answers.ts'
import { type EnvelopeOperation, namedSpans, OperationFault, readOperations } from './operations.ts'
import { type AiEnvelopeRequest, readRequest } from './request.ts'

/** The parsed `ops_xml`. `limits`: why parsing stopped. */
export type EnvelopePayload =
  | { readonly tree: Element; readonly operations: readonly EnvelopeOperation[] }
  | { readonly limits: string }

type Envelope = { readonly request: AiEnvelopeRequest; readonly payload: EnvelopePayload } | { readonly fault: string }

/**
 * Checks the structure of a request. A payload over the limits is not parsed. Its error comes after the idempotency
 * check.
 */
export function readEnvelope(body: unknown, parse: MarkupParser): Envelope {
  const read = readRequest(body)
  if ('fault' in read) return read
  const { request } = read
  const bytes = byteLength(request.ops_xml)
  if (bytes > MARKUP_LIMITS.bytes)
    return { request, payload: { limits: `ops_xml has ${bytes} bytes; send at most ${MARKUP_LIMITS.bytes}` } }
  const parsed = parse(request.ops_xml, MARKUP_LIMITS)
  if (parsed.kind === 'malformed') return { fault: `ops_xml ${parsed.message}` }
  if (parsed.kind === 'limits') return { request, payload: { limits: `ops_xml ${parsed.message}` } }
  try {
    const operations = readOperations(parsed.root)
    const fault = unconditioned(request, operations)
    return fault === null ? { request, payload: { tree: parsed.root, operations } } : { fault }
  } catch (error) {
    if (!(error instanceof OperationFault)) throw error
    return { fault: `ops_xml: ${error.message}` }
  }
}

/** The answer to a payload that is too large or hostile, or null. */
export function payloadRefusal(payload: EnvelopePayload): RefusedAnswer | null {
  if ('limits' in payload) return refused('AI_PAYLOAD_REJECTED_LIMITS', payload.limits)
  const reason = hostileReason(payload.tree)
  return reason === null ? null : refused('AI_PAYLOAD_REJECTED_SANITIZE', `ops_xml: ${reason}`)
}

/** Every named span needs exactly one precondition. `readRequest` has already refused duplicates. */
function unconditioned(request: AiEnvelopeRequest, operations: readonly EnvelopeOperation[]): string | null {
  const conditions = new Set(request.preconditions.map(({ span_id }) => span_id))
  const without = [...namedSpans(operations)].find((spanId) => !conditions.has(spanId))
  return without === undefined
    ? null
    : `preconditions: none for the span "${echo(without)}"; send one with its context hash`
}
