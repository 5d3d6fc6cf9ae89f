import type { Diagnostic } from '../markup/diagnostics.ts'

// All answers of the gateway. These shapes are the format of HTTP and of the log.

export type RefusalCode =
  | 'INVALID_REQUEST'
  | 'AI_IDEMPOTENCY_KEY_REUSED'
  | 'AI_PAYLOAD_REJECTED_LIMITS'
  | 'AI_PAYLOAD_REJECTED_SANITIZE'
  | 'AI_PAYLOAD_REJECTED_SCHEMA_VIOLATION'
  | 'DOCUMENT_NOT_FOUND'

export type PreconditionFailure = 'hash_mismatch' | 'span_missing' | 'unverified'

export interface FailedPrecondition {
  readonly span_id: string
  readonly reason: PreconditionFailure
}

export interface Applied {
  readonly status: 200
  readonly body: {
    readonly status: 'applied'
    readonly client_request_id: string
    readonly applied_frontier: string
    readonly diagnostics: readonly Diagnostic[]
  }
}

export interface Conflict {
  readonly status: 409
  readonly body: {
    readonly code: 'AI_PRECONDITION_FAILED'
    readonly phase: 'ai_gateway'
    readonly retryable: true
    readonly current_frontier: string
    /** In request order. Empty: the frontier is in conflict. */
    readonly failed_preconditions: readonly FailedPrecondition[]
  }
}

export interface RefusedAnswer {
  readonly status: 400 | 404 | 422
  readonly body: {
    readonly code: RefusalCode
    readonly phase: 'ai_gateway'
    readonly retryable: false
    readonly message: string
  }
}

/** The answer to an envelope: `status` is 200, 409 with the reasons, or the code of a refusal. */
export type EnvelopeAnswer = Applied | Conflict | RefusedAnswer

const STATUS: Readonly<Record<RefusalCode, RefusedAnswer['status']>> = {
  INVALID_REQUEST: 400,
  AI_IDEMPOTENCY_KEY_REUSED: 400,
  AI_PAYLOAD_REJECTED_LIMITS: 400,
  AI_PAYLOAD_REJECTED_SANITIZE: 400,
  AI_PAYLOAD_REJECTED_SCHEMA_VIOLATION: 422,
  DOCUMENT_NOT_FOUND: 404,
}

export const refused = (code: RefusalCode, message: string): RefusedAnswer => ({
  status: STATUS[code],
  body: { code, phase: 'ai_gateway', retryable: false, message },
})

export const conflict = (frontier: string, failed: readonly FailedPrecondition[]): Conflict => ({
  status: 409,
  body: {
    code: 'AI_PRECONDITION_FAILED',
    phase: 'ai_gateway',
    retryable: true,
    current_frontier: frontier,
    failed_preconditions: failed,
  },
})

/** @param frontier the document's frontier including this request */
export const applied = (clientRequestId: string, frontier: string, diagnostics: readonly Diagnostic[]): Applied => ({
  status: 200,
  body: { status: 'applied', client_request_id: clientRequestId, applied_frontier: frontier, diagnostics },
})
