import type { TokenUsage } from './token-usage.ts'

/** Error codes of a runtime or a spawner. They are stable. */
export type SpawnErrorCode =
  | 'INVALID_AGENT'
  | 'DUPLICATE_AGENT'
  | 'UNKNOWN_AGENT'
  | 'RUN_TWICE'
  | 'DEPTH_LIMIT'
  | 'INVALID_FUNCTION'
  | 'UNKNOWN_FUNCTION'
  | 'INVALID_ARGUMENTS'
  | 'NOT_RESUMABLE' // the state left by a crash cannot be resumed
  | 'INVALID_MERGE'

/** A spawn that was refused or could not end. `code` names the reason. */
export class SpawnError extends Error {
  override readonly name = 'SpawnError'
  readonly code: SpawnErrorCode
  /** The id of the agent that was not started and has no stored result; null: the error has another subject. */
  readonly notBegun: string | null
  constructor(code: SpawnErrorCode, message: string, options: ErrorOptions & { readonly notBegun?: string } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.notBegun = options.notBegun ?? null
  }
}

/** Why a provider has no result. */
export type ProviderErrorCode =
  | 'EXITED' // the process ended with a non-zero exit code or by a signal
  | 'PARSE_FAILED' // the process ended without printing a result
  | 'SPAWN_FAILED'
  | 'TIMED_OUT'
  | 'CANCELLED'
  | 'NOT_RECORDED' // the log refused the run, or its end

export interface ProviderFailure {
  readonly cause?: unknown
  readonly exitCode?: number | null
  /** The HTTP status of the model service's error, such as 429 or 529. */
  readonly status?: number
  /** The network failed. */
  readonly network?: boolean
  readonly tokenUsage?: TokenUsage
  readonly costUsd?: number
  /** The id of the failed run in the log. */
  readonly runId?: string
}

/** A failed attempt of a provider, with its usage. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError'
  readonly code: ProviderErrorCode
  readonly exitCode: number | null
  readonly status: number | null
  readonly network: boolean
  readonly tokenUsage: TokenUsage | null
  readonly costUsd: number | null
  readonly runId: string | null
  constructor(code: ProviderErrorCode, message: string, told: ProviderFailure = {}) {
    super(message, told.cause === undefined ? undefined : { cause: told.cause })
    this.code = code
    this.exitCode = told.exitCode ?? null
    this.status = told.status ?? null
    this.network = told.network ?? false
    this.tokenUsage = told.tokenUsage ?? null
    this.costUsd = told.costUsd ?? null
    this.runId = told.runId ?? null
  }
}
