import type { Place } from '../events/reuse.ts'

/** How far a fork has followed the record of the run that it was made of. */
export interface Reuse {
  /** The stream whose history is the record. */
  readonly stream: string
  /** The last outcome of a model that was taken; null: none. */
  readonly after: Place | null
  /** Outcomes that were taken: of models, and of calls. */
  readonly models: number
  readonly tools: number
  /** Revision of the `reuse_ended`; null: the record is still followed. */
  readonly left: number | null
}
