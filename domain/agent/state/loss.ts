import type { Root } from '../../log/root.ts'

/** An irreversible call that began in the lost part of the log. `decided` null: a person has not decided yet. */
export interface LostCallState {
  readonly id: string
  readonly toolName: string
  readonly argumentsHash: string
  readonly decided: 'happened' | 'abandon' | null
}

/**
 * The calls of an accepted loss to be settled. `unlisted`: any irreversible call may have happened in the lost part.
 */
export interface LossToSettle {
  readonly calls: readonly LostCallState[]
  readonly unlisted: boolean
  /** Revision of the last accepted loss. An earlier decision on a call does not cover the lost part. */
  readonly since: number
  /** Decisions that join the messages when the next turn starts. */
  readonly unsent: Root
}
