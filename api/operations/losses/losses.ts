import type { Actor } from '../../../domain/log/envelope.ts'
import type { Loss, Unreadable } from './loss.ts'

/** The places where an acceptance is recorded. */
export interface Acceptance {
  /** Runs whose streams record the acceptance. */
  readonly runs: readonly string[]
  /** Unreadable streams, which `log-meta` lists. Their runs are not driven. */
  readonly unreadable: readonly Unreadable[]
}

/** The result of an acceptance. */
export interface Accepted extends Acceptance {
  readonly loss: Loss
}

/** The known losses of the log, and their acceptance by a person. */
export interface Losses {
  /** The loss that prevents this process from recording. Null: none. */
  readonly open: Loss | null
  /** The error with which every request that records something rejects. Null: such requests are accepted. */
  readonly refusal: Error | null
  /** Compares every stream and position with the last known one. Null: nothing is missing. */
  look(): Promise<Loss | null>
  /**
   * Records a person's acceptance of the loss with this id, as returned by {@link look}. Null: there is no loss.
   * Rejects with `LOSS_CHANGED` if the present loss is a different one.
   */
  accept(id: string, by: Actor, reason?: string): Promise<Accepted | null>
}
