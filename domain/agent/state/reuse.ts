import type { EventPlace } from '../../log/body-parts.ts'

/** How far a fork has followed the record of its source run. */
export interface Reuse {
  readonly stream: string
  /** The last copied outcome of a model; null: none. */
  readonly after: EventPlace | null
  /** The number of copied outcomes, of models and of calls. */
  readonly models: number
  readonly tools: number
  /** Revision of the `reuse_ended`; null: the record is still followed. */
  readonly left: number | null
}
