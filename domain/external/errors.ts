/** The errors of the Universal Agent API (CONTRACTS 13). */
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
  constructor(code: AgentErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

export const backendError = (message: string, cause?: unknown): AgentError =>
  new AgentError('Backend', message, cause === undefined ? undefined : { cause })
