import type { Root } from '../../log/root.ts'

/** An irreversible call that began in the lost part of the log. `decided` null: a person has yet to say what became of it. */
export interface LostCallState {
  readonly id: string
  readonly toolName: string
  readonly argumentsHash: string
  readonly decided: 'happened' | 'abandon' | null
}

/**
 * The calls that an accepted loss leaves to be settled. `unlisted`: any irreversible call may have happened in the lost
 * part.
 */
export interface Loss {
  readonly calls: readonly LostCallState[]
  readonly unlisted: boolean
  /** Revision of the last acceptance: a decision on a call from before it says nothing about the lost part. */
  readonly since: number
  /** Decisions that are not yet among the messages: they join them when the next turn starts. */
  readonly unsent: Root
}
