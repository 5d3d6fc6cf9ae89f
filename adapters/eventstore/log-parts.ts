import type { EventStoreConnection } from './connection.ts'
import type { Strays } from './foreign-events.ts'
import type { TimeLimits } from './options.ts'
import type { Known } from './seen-events.ts'

/** The members that all parts of a log share. */
export interface LogParts {
  readonly connection: EventStoreConnection
  readonly namespace: string
  readonly limits: TimeLimits
  readonly known: Known
  readonly strays: Strays
  /** Aborts with `LOG_CLOSED` when the log is closed. */
  readonly closed: AbortSignal
}
