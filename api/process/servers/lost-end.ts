import type { Cursor } from '../../../domain/log/cursor.ts'

/** What a process remembers of a log that was put back to an older state under it. */
export interface LostEnd {
  /** The furthest event that this process has seen and the log has lost since; null: none. */
  readonly lost: Cursor | null
  /** Lets appends through again: the caller has taken over the {@link lost} event. */
  settle(): void
}
