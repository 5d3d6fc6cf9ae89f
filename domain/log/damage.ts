import { LogError, type LogErrorCode } from './errors.ts'

/** The content at a place of one of our streams that is no event sealed for that place. */
export interface DamagedEvent {
  /** Without the namespace. */
  readonly stream: string
  /** Null: it stands after the last event of its stream and has no number of its own (a tombstone, a truncation). */
  readonly revision: number | null
  readonly position: number
  /** The id and the type as they are stored. */
  readonly id: string
  readonly type: string
  /** When the server took it, ISO 8601. */
  readonly at: string
  readonly code: 'TOMBSTONED' | 'TRUNCATED' | 'FOREIGN' | 'ALTERED' | 'FORMAT_NEWER'
  /** The fault, then the remedy. */
  readonly message: string
}

/** Hears of damaged events in log order: after the pages before them, and before the page that comes after them. */
export type OnDamage = (damaged: DamagedEvent) => void

/** Does the error say that a stream, or an event of it, cannot be read, while the log itself can? */
export const isStreamDamage = (error: unknown): error is LogError => error instanceof LogError && DAMAGE.has(error.code)
const DAMAGE: ReadonlySet<LogErrorCode> = new Set(['LOG_CORRUPT', 'LOG_FOREIGN', 'LOG_NEWER'])
