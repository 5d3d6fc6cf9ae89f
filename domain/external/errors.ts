import type { ExitStatus } from './exit-status.ts'

/** The errors of the Universal Agent API. */
export type AgentErrorCode =
  | 'UnknownBackend' // no backend of this kind is registered
  | 'UnsupportedCapability' // the backend does not advertise what the request asks for, or lost it while it ran
  | 'InvalidAgentKind' // a kind that is malformed, or registered already
  | 'InvalidRequest'
  | 'Backend' // the process could not be started, was cancelled, ran out of time, or failed to terminate

/** A run of an agent that was refused, or that ended without an exit status. `message` never repeats a value or a line. */
export class AgentError extends Error {
  override readonly name = 'AgentError'
  readonly code: AgentErrorCode
  /** How the process ended that was ended by force; null: there was none, or it did not end. */
  readonly exit: ExitStatus | null
  constructor(code: AgentErrorCode, message: string, options: { cause?: unknown; exit?: ExitStatus } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.exit = options.exit ?? null
  }
}

/** The message of a run that ended because its end was asked for. */
export const CANCELLED = 'cancelled'
/** The message of a run whose process was alive 5 s after SIGKILL. */
export const NOT_TERMINATED = 'failed to terminate'
