import type { Actor } from '../../../domain/log/envelope.ts'
import type { Loss, Unreadable } from './loss.ts'

/** Where an acceptance is recorded. */
export interface Acceptance {
  /** Runs whose streams record it. */
  readonly runs: readonly string[]
  /** Streams that cannot be read, which `log-meta` names: their runs are not driven. */
  readonly unreadable: readonly Unreadable[]
}

/** The result of an acceptance. */
export interface Accepted extends Acceptance {
  readonly loss: Loss
}

/** The known losses of the log, and their acceptance by a person. */
export interface Losses {
  /** The loss that keeps this process from recording; null: none. */
  readonly open: Loss | null
  /** Why nothing is recorded, as the error of every request that records; null: requests are recorded. */
  readonly refusal: Error | null
  /** Every stream and position held against what was seen of them; null: nothing is missing. */
  look(): Promise<Loss | null>
  /**
   * Records that a person accepts the loss of this id, which {@link look} has shown; null: there is nothing to accept. Rejects
   * with `LOSS_CHANGED` where another one is found by now.
   */
  accept(id: string, by: Actor, reason?: string): Promise<Accepted | null>
}
