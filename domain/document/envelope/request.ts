import { createHash } from 'node:crypto'
import { z } from 'zod'
import { canonicalBytes } from '../../log/canonical.ts'
import { firstIssue } from '../../log/issues.ts'
import { MARKUP_LIMITS } from '../markup/limits.ts'
import { type Frontier, parseFrontier } from '../model/frontier.ts'
import { attemptOf } from './retry-delay.ts'

/** The maximum length of an id, in UTF-16 units. */
const NAME = 256
/** The maximum length of a frontier, in UTF-16 units: enough for thousands of concurrent peers. */
const FRONTIER = 65_536

const text = z
  .string()
  .refine((value) => value.isWellFormed() && !value.includes('\0'), 'holds NUL or half of a surrogate pair; remove it')
const name = text.min(1).max(NAME)
/** The suffix of a retry does not count, so every request can be retried. */
const requestId = text.min(1).refine((id) => attemptOf(id).first.length <= NAME, `has more than ${NAME} characters`)

const Precondition = z.strictObject({ span_id: name, if_match_context_hash: text.max(256) }).readonly()

/** A request has at most `nodes` spans, so more preconditions are invalid. The count is checked before the items. */
const Preconditions = z
  .array(Precondition)
  .max(MARKUP_LIMITS.nodes, `has more than ${MARKUP_LIMITS.nodes} items; send one for each span`)
  .readonly()

const frontier = text.refine(
  (value) => value.length <= FRONTIER && parseFrontier(value) !== null,
  'is not a frontier; send the one that was read',
)

export const AiEnvelopeRequest = z
  .strictObject({ doc_frontier: frontier, client_request_id: requestId, ops_xml: text, preconditions: Preconditions })
  .readonly()

/** A request to change one document. */
export type AiEnvelopeRequest = z.infer<typeof AiEnvelopeRequest>
/** A span that the request has read, with the hash of its content at that time. */
export type Precondition = z.infer<typeof Precondition>

/** Parses a body. `fault`: why the body is invalid. Preconditions must name different spans. */
export function readRequest(body: unknown): { readonly request: AiEnvelopeRequest } | { readonly fault: string } {
  const read = AiEnvelopeRequest.safeParse(body)
  if (!read.success) return { fault: firstIssue(read.error, 'the request') }
  const seen = new Set<string>()
  for (const { span_id } of read.data.preconditions) {
    if (seen.has(span_id)) return { fault: `preconditions: two for the span "${span_id}"; send exactly one` }
    seen.add(span_id)
  }
  return { request: read.data }
}

/** The frontier of a valid request. */
export const clientFrontier = (request: AiEnvelopeRequest): Frontier => parseFrontier(request.doc_frontier)!

// A valid request is immutable and its hash is needed several times.
const hashes = new WeakMap<AiEnvelopeRequest, string>()

/** Lower-case hex SHA-256 of the canonical JSON. Equal requests have equal hashes. */
export function payloadHash(request: AiEnvelopeRequest): string {
  let hash = hashes.get(request)
  if (hash === undefined) {
    hash = createHash('sha256').update(canonicalBytes(request)).digest('hex')
    hashes.set(request, hash)
  }
  return hash
}
