import { atOnce } from '../../log/steps.ts'
import type { MarkupParser } from '../../ports/index.ts'
import { type Diagnostic, Diagnostics } from '../markup/diagnostics.ts'
import type { Edit } from '../model/edits.ts'
import { type DocumentReader, readOnce } from '../model/view.ts'
import { conflict, type EnvelopeAnswer, refused } from './answers.ts'
import { dryRun, SchemaFault } from './dry-run.ts'
import { type AnsweredRequest, idUse, REUSED } from './idempotency.ts'
import { normalizeOperations, sanitizeOperations } from './normal-operations.ts'
import { failedPreconditions } from './preconditions.ts'
import { type AiEnvelopeRequest, clientFrontier, payloadHash } from './request.ts'
import { payloadRefusal, readEnvelope } from './structure.ts'

/** The facts that the checks need in addition to the request. */
export interface EnvelopeContext {
  readonly parse: MarkupParser
  /** The earlier answer to this caller's id for this document, or null. */
  readonly answered: (clientRequestId: string) => AnsweredRequest | null
  /** Null: the document does not exist. */
  readonly document: DocumentReader | null
  /** The document id and the caller. With the request, they determine the ids of new blocks. */
  readonly scope: readonly [documentId: string, caller: string]
}

/** The gateway's verdict on a request. Only `apply` changes the document; it applies all edits. */
export type Verdict =
  | { readonly kind: 'refuse'; readonly answer: EnvelopeAnswer; readonly request: AiEnvelopeRequest | null }
  /** The id was answered before. The request has no further effect. */
  | { readonly kind: 'repeat'; readonly answer: EnvelopeAnswer; readonly request: AiEnvelopeRequest }
  | {
      readonly kind: 'apply'
      readonly request: AiEnvelopeRequest
      readonly edits: readonly Edit[]
      readonly diagnostics: readonly Diagnostic[]
      /** The annotations of the operations, in order. */
      readonly annotations: readonly (string | null)[]
    }

/** Runs {@link judging} without pauses. */
export const judge = (body: unknown, context: EnvelopeContext): Verdict => atOnce(judging(body, context))

/**
 * Judges the body of a request. Yields between slow steps, because a large request takes long. The order of the checks
 * is a contract: the first failed check gives the answer. Bad input never throws.
 */
export function* judging(
  body: unknown,
  { parse, answered, document: current, scope }: EnvelopeContext,
): Generator<undefined, Verdict> {
  const envelope = readEnvelope(body, parse)
  if ('fault' in envelope) return refuse(refused('INVALID_REQUEST', envelope.fault), null)
  const { request, payload } = envelope
  yield

  const earlier = answered(request.client_request_id)
  const use = idUse(request, earlier)
  if (use === 'repeated') return { kind: 'repeat', answer: earlier!.answer, request }
  if (use === 'reused') return refuse(REUSED, request)

  // Limits and hostile content.
  const fault = payloadRefusal(payload)
  if (fault !== null) return refuse(fault, request)
  const operations = 'operations' in payload ? payload.operations : []

  if (current === null) return refuse(refused('DOCUMENT_NOT_FOUND', 'there is no such document'), request)
  const document = readOnce(current)
  if (!ACCEPTED.has(document.relation(clientFrontier(request)))) return refuse(conflict(document.frontier, []), request)

  const failed = failedPreconditions(request.preconditions, document)
  if (failed.length > 0) return refuse(conflict(document.frontier, failed), request)

  yield
  const found = new Diagnostics()
  const clean = sanitizeOperations(operations, found)
  if (clean === null) return refuse(refused('AI_PAYLOAD_REJECTED_SANITIZE', EMPTY), request)

  yield
  const normal = normalizeOperations(clean, document)

  yield
  try {
    const edits = dryRun(normal, document, [...scope, payloadHash(request)].join('\n'))
    const annotations = operations.map(({ annotation }) => annotation)
    return { kind: 'apply', request, edits, diagnostics: found.list(), annotations }
  } catch (error) {
    if (!(error instanceof SchemaFault)) throw error
    return refuse(refused('AI_PAYLOAD_REJECTED_SCHEMA_VIOLATION', error.message), request)
  }
}

const ACCEPTED: ReadonlySet<string> = new Set(['equal', 'behind'])
const EMPTY = 'the payload has no content after sanitizing; send text, or delete blocks with <delete_blocks>'

const refuse = (answer: EnvelopeAnswer, request: AiEnvelopeRequest | null): Verdict => ({
  kind: 'refuse',
  answer,
  request,
})
