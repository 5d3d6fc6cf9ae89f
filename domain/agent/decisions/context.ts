import type { Actor } from '../../log/envelope.ts'
import type { Transcript } from '../state/messages.ts'

/** What a decision may know of the world: its time, randomness and who asks. Given by the runtime, recorded in events. */
export interface DecisionContext {
  /** Milliseconds since the epoch, not before the stream's last event. */
  readonly now: number
  /** 16 random bytes. */
  salt(): Uint8Array
  /** In [0, 1). */
  jitter(): number
  readonly by: Actor
  readonly commandId: string
  /** Set where a driver decides: its own id and the epoch it holds. */
  readonly driver?: {
    readonly id: string
    readonly epoch: number
    /** It is stopping: it brings in what it knows and starts nothing. */
    readonly rests?: true
  }
  /** What the model has been told so far; each time one that may be gone on with. Needed where a driver decides. */
  transcript?(): Transcript
  /** What the caller named; else the request is the outermost one itself. */
  readonly correlationId?: string
  readonly trace?: string
}
