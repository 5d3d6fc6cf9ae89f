import type { StreamContext } from '../../stream/aggregate.ts'
import type { HealthOf } from '../routing/routing.ts'
import type { Transcript } from '../state/transcript.ts'

/** Inputs of a decision from outside the state. The runtime provides them; events record them. */
export interface DecisionContext extends StreamContext {
  /** The deciding driver: its id and its epoch. Absent: no driver decides. */
  readonly driver?: {
    readonly id: string
    readonly epoch: number
    /** The driver is stopping: it records outcomes and starts nothing. */
    readonly rests?: true
  }
  /** A new transcript of the model's messages per call, which the decision may extend. Required if a driver decides. */
  transcript?(): Transcript
  /** The current health figures of the models. A decision that uses them records them. */
  readonly health?: HealthOf
}
