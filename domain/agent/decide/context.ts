import type { StreamContext } from '../../stream/aggregate.ts'
import type { Health } from '../routing/routing.ts'
import type { Transcript } from '../state/messages.ts'

/** The knowledge of the world of a decision on an agent. Given by the runtime, recorded in events. */
export interface DecisionContext extends StreamContext {
  /** Set where a driver decides: its own id and the epoch it holds. */
  readonly driver?: {
    readonly id: string
    readonly epoch: number
    /** It is stopping: it brings in what it knows and starts nothing. */
    readonly rests?: true
  }
  /** The messages of the model so far; each time one that may be gone on with. Needed where a driver decides. */
  transcript?(): Transcript
  /** The figures of a model's health now; a decision that uses them records them. */
  readonly health?: Health
}
