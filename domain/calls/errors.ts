import type { RejectionCode, ToolErrorCode } from './error-codes.ts'
import type { ModelFailure } from './model-call.ts'
import type { ToolFailure } from './tools/tool-call.ts'
import type { ToolMeaning } from './tools/tool-spec.ts'

/** A failed attempt of a tool, with a known end. */
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

/** The tool differs from the one in the log; the call had no effect. `tool`: the current tool of the same name. */
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

/** A failed attempt of a model call. A transient error is retried, a permanent one ends the run. */
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

/** The agent's state, or the runtime, refuses a command. */
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
 * A stream refuses a courier's delivery. BOUNCED: this delivery is refused for ever. GONE: all deliveries are, because
 * the target has finished or does not exist. The source records both. OUT_OF_ORDER: an earlier delivery of the same
 * source comes first. Never an answer to a person's request.
 */
export class DeliveryRefused extends Error {
  override readonly name = 'DeliveryRefused'
  readonly code: DeliveryRefusal
  constructor(code: DeliveryRefusal, message: string) {
    super(message)
    this.code = code
  }
}
