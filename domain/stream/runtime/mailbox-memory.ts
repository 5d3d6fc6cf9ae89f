import type { StreamContext, StreamEvent } from '../aggregate.ts'

/** A mailbox's memory of a stream, in addition to the folded state. Decisions and effects use it. */
export interface MailboxMemory<Event extends StreamEvent, Context extends StreamContext> {
  push(event: Event): void
  /** Called after an append. Values computed now need not be computed during the next decision. */
  settle(): void
  /** The members that the memory adds to the context of a decision. */
  context(): Partial<Context>
  /** An empty memory with the same settings. */
  fresh(): MailboxMemory<Event, Context>
  /** Approximate memory use, bytes. */
  readonly bytes: number
}

export const forgetful = <Event extends StreamEvent, Context extends StreamContext>(): MailboxMemory<
  Event,
  Context
> => ({
  push: () => undefined,
  settle: () => undefined,
  context: () => ({}),
  fresh: () => forgetful(),
  bytes: 0,
})
