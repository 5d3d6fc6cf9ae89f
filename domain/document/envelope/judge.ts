import { atOnce } from '../../log/steps.ts'
import type { MarkupParser } from '../../ports/index.ts'
import { type Diagnostic, Diagnostics } from '../markup/diagnostics.ts'
import type { Edit } from '../model/edits.ts'
import { type DocumentView, readOnce } from '../model/view.ts'
import { type Answer, conflict, refused } from './answers.ts'
import { dryRun, SchemaFault } from './dry-run.ts'
import { type AnsweredRequest, idUse, REUSED } from './idempotency.ts'
import { normalizeOperations, sanitizeOperations } from './normal-operations.ts'
import { failedPreconditions } from './preconditions.ts'
import { type AiEnvelopeRequest, clientFrontier, payloadHash } from './request.ts'
import { payloadFault, readEnvelope } from './structure.ts'

/** The facts that the checks need beside the request. */
export interface EnvelopeContext {
  readonly parse: MarkupParser
  /** The answer that this caller's id has been given for this document, or null. */
  readonly answered: (clientRequestId: string) => AnsweredRequest | null
  /** Null: there is no such document. */
  readonly document: DocumentView | null
  /** The document's id and the caller; together with the request they name new blocks. */
  readonly scope: readonly [documentId: string, caller: string]
}

/** The gateway's verdict on a request. Only `apply` changes the document, by all of its edits. */
export type Verdict =
  | { readonly kind: 'refuse'; readonly answer: Answer; readonly request: AiEnvelopeRequest | null }
  /** The id was answered before; nothing happens again. */
  | { readonly kind: 'repeat'; readonly answer: Answer; readonly request: AiEnvelopeRequest }
  | {
      readonly kind: 'apply'
      readonly request: AiEnvelopeRequest
      readonly edits: readonly Edit[]
      readonly diagnostics: readonly Diagnostic[]
      /** The annotations of the operations, in order. */
      readonly annotations: readonly (string | null)[]
    }

/** {@link judging} at once. */
export const judge = (body: unknown, context: EnvelopeContext): Verdict => atOnce(judging(body, context))

/**
 * Judges the body of a request, in steps: each of them takes long for a large one. The order of the checks is the
 * contract's: the first one that fails gives the answer. Nothing is thrown for bad input.
 */
export function* judging(
  body: unknown,
  { parse, answered, document: current, scope }: EnvelopeContext,
): Generator<undefined, Verdict> {
  // Structure.
  const envelope = readEnvelope(body, parse)
  if ('fault' in envelope) return refuse(refused('INVALID_REQUEST', envelope.fault), null)
  const { request, payload } = envelope
  yield

  // Idempotency.
  const earlier = answered(request.client_request_id)
  const use = idUse(request, earlier)
  if (use === 'repeated') return { kind: 'repeat', answer: earlier!.answer, request }
  if (use === 'reused') return refuse(REUSED, request)

  // Too large or malicious.
  const fault = payloadFault(payload)
  if (fault !== null) return refuse(fault, request)
  const operations = 'operations' in payload ? payload.operations : []

  // Document and frontier.
  if (current === null) return refuse(refused('DOCUMENT_NOT_FOUND', 'there is no such document'), request)
  const document = readOnce(current)
  if (!ACCEPTED.has(document.relation(clientFrontier(request)))) return refuse(conflict(document.frontier, []), request)

  // Preconditions.
  const failed = failedPreconditions(request.preconditions, document)
  if (failed.length > 0) return refuse(conflict(document.frontier, failed), request)

  // Sanitize.
  yield
  const found = new Diagnostics()
  const clean = sanitizeOperations(operations, found)
  if (clean === null) return refuse(refused('AI_PAYLOAD_REJECTED_SANITIZE', EMPTY), request)

  // Normalize.
  yield
  const normal = normalizeOperations(clean, document)

  // Schema dry-run.
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

const refuse = (answer: Answer, request: AiEnvelopeRequest | null): Verdict => ({ kind: 'refuse', answer, request })
