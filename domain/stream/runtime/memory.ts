import type { StreamContext, StreamEvent } from '../aggregate.ts'

/** The memory of a mailbox for a stream beside the folded state, for its decisions and effects. */
export interface Memory<Event extends StreamEvent, Context extends StreamContext> {
  /** Takes the next event of the stream. */
  push(event: Event): void
  /** An append has been recorded: what is worked out now need not be in the next decision. */
  settle(): void
  /** The part of it that decisions are given. */
  context(): Partial<Context>
  /** An empty one that will remember as much. */
  fresh(): Memory<Event, Context>
  /** About how much memory it takes. */
  readonly bytes: number
}

/** Remembers nothing. */
export const forgetful: Memory<StreamEvent, StreamContext> = {
  push: () => undefined,
  settle: () => undefined,
  context: () => ({}),
  fresh: () => forgetful,
  bytes: 0,
}
