import { LogError, type LogErrorCode } from './errors.ts'

/** Content of one of our streams that is not an event sealed for its place. */
export interface DamagedEvent {
  /** The stream's name without the namespace. */
  readonly stream: string
  /** Null: the damage follows the last event and has no revision (a tombstone, a truncation). */
  readonly revision: number | null
  readonly position: number
  /** The id and the type as stored. */
  readonly id: string
  readonly type: string
  /** The server's time of the append, ISO 8601. */
  readonly at: string
  readonly code: 'TOMBSTONED' | 'TRUNCATED' | 'FOREIGN' | 'ALTERED' | 'FORMAT_NEWER'
  /** The fault, then the remedy. */
  readonly message: string
}

/** Called with damaged events in log order: after the pages before them, and before the page after them. */
export type OnDamage = (damaged: DamagedEvent) => void

/** Whether the error means that a stream or one of its events is unreadable, while the log itself is readable. */
export const isStreamDamage = (error: unknown): error is LogError => error instanceof LogError && DAMAGE.has(error.code)
const DAMAGE: ReadonlySet<LogErrorCode> = new Set(['LOG_CORRUPT', 'LOG_FOREIGN', 'LOG_NEWER'])
