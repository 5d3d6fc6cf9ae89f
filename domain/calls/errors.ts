import type { RejectionCode, ToolErrorCode } from './error-codes.ts'
import type { ModelFailure } from './model-call.ts'
import type { ToolFailure } from './tool-call.ts'
import type { ToolMeaning } from './tool-spec.ts'

/** A failed attempt of a tool whose end was seen. */
export class ToolError extends Error implements ToolFailure {
  override readonly name = 'ToolError'
  readonly code: ToolErrorCode
  readonly transient: boolean
  readonly beforeEffect: boolean
  constructor(
    code: ToolErrorCode,
    message: string,
    options: { transient?: boolean; beforeEffect?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause })
    this.code = code
    this.transient = options.transient ?? false
    this.beforeEffect = options.beforeEffect ?? false
  }
}

/** Nothing was done: the tool is another one than the run knows. `tool`: as it is now, under the same name. */
export class ToolChanged extends ToolError {
  readonly tool: ToolMeaning
  constructor(tool: ToolMeaning, message: string) {
    super('CONFLICT', message, { beforeEffect: true })
    this.tool = tool
  }
}

export type ModelErrorCode =
  | 'RATE_LIMITED'
  | 'OVERLOADED'
  | 'NETWORK'
  | 'TIMEOUT'
  | 'AUTHENTICATION'
  | 'PERMISSION_DENIED'
  | 'NOT_FOUND'
  | 'INVALID_REQUEST'
  | 'CONTEXT_OVERFLOW'
  | 'INVALID_RESPONSE'
  | 'SCRIPT_INVALID'
  | 'SCRIPT_EXHAUSTED'

/** A failed attempt of a model call. Transient ones are retried, permanent ones end the run. */
export class ModelError extends Error implements ModelFailure {
  override readonly name = 'ModelError'
  readonly code: ModelErrorCode
  readonly transient: boolean
  readonly retryAfterMs?: number
  constructor(
    code: ModelErrorCode,
    message: string,
    options: { transient?: boolean; retryAfterMs?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause })
    this.code = code
    this.transient = options.transient ?? false
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs
  }
}

/** A command that the agent's state, or the runtime for it, refuses. */
export class CommandRejected extends Error {
  override readonly name = 'CommandRejected'
  readonly code: RejectionCode
  constructor(code: RejectionCode, message: string) {
    super(message)
    this.code = code
  }
}

type DeliveryRefusal = 'BOUNCED' | 'GONE' | 'OUT_OF_ORDER'

/**
 * The delivery of a courier is not taken. BOUNCED: it never will be; GONE: nor will any other, because the target has
 * finished or does not exist. The source records both. OUT_OF_ORDER: something of the same source comes first. It is no
 * answer to a person's request.
 */
export class DeliveryRefused extends Error {
  override readonly name = 'DeliveryRefused'
  readonly code: DeliveryRefusal
  constructor(code: DeliveryRefusal, message: string) {
    super(message)
    this.code = code
  }
}
