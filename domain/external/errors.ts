import type { ExitStatus } from './exit-status.ts'

/** The errors of the Universal Agent API. */
export type AgentErrorCode =
  | 'UnknownBackend' // no backend of this kind is registered
  | 'UnsupportedCapability' // the backend does not advertise a requested capability, or lost it during the run
  | 'InvalidAgentKind' // a malformed kind, or a kind that is already registered
  | 'InvalidRequest'
  | 'Backend' // the process could not be started, was cancelled, timed out, or did not terminate

/** The run was refused or ended without an exit status. `message` never repeats a value or a line. */
export class AgentError extends Error {
  override readonly name = 'AgentError'
  readonly code: AgentErrorCode
  /** The exit status of a process that was killed; null: no process was started, or it did not terminate. */
  readonly exit: ExitStatus | null
  constructor(code: AgentErrorCode, message: string, options: { cause?: unknown; exit?: ExitStatus } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.exit = options.exit ?? null
  }
}

/** The message of a cancelled run. */
export const CANCELLED = 'cancelled'
/** The message of a run whose process was still alive 5 s after SIGKILL. */
export const NOT_TERMINATED = 'failed to terminate'
