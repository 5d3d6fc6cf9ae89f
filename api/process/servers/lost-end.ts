import type { Cursor } from '../../../domain/log/cursor.ts'

/** A process's memory of a log that was replaced by an older state while the process ran. */
export interface LostEnd {
  /** The last event that this process has seen and the log has lost. Null: none. */
  readonly lost: Cursor | null
  /** Allows appends again. The caller has recorded the {@link lost} event. */
  settle(): void
}
