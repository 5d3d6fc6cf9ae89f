import type { Connection } from './connection.ts'
import type { Limits } from './options.ts'
import type { Known } from './seen-events.ts'
import type { Strays } from './strays.ts'

/** The members that all parts of a log share. */
export interface Place {
  readonly connection: Connection
  readonly namespace: string
  readonly limits: Limits
  readonly known: Known
  readonly strays: Strays
  /** Aborts with `LOG_CLOSED` when the log is closed. */
  readonly closed: AbortSignal
}
