import type { Cursor } from '../../../domain/log/cursor.ts'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import type { Clock, EventLog } from '../../../domain/ports/index.ts'
import type { EventFeed } from '../events/feed.ts'
import type { FeedPage } from '../events/feed-page.ts'
import type { EventFilter } from '../events/filter.ts'
import { Problem } from '../problem.ts'
import { type ConsumerFilter, eventFilter } from './filter.ts'

/** The time between two looks at the stored position, in ms: for another reader, and for an advance. */
const LOOK_MS = 500
/** The time after which a batch that has found nothing ends, in ms, while the log has more events. */
const SCAN_MS = 5_000

/** The part of `Consumers` that its readers need. */
interface Stored {
  ack(name: string, epoch: number, cursor: Cursor): Promise<Cursor>
  advance(name: string, epoch: number, seen: () => { sent: Cursor | null; read: Cursor | null }): Promise<void>
}

interface ReaderParts {
  readonly name: string
  readonly epoch: number
  /** The position that the reader begins after. */
  readonly position: Cursor | null
  readonly filter: ConsumerFilter
  readonly feed: EventFeed
  readonly log: Pick<EventLog, 'cursor'>
  readonly clock: Clock
  readonly consumers: Stored
}

/** Events of a consumer, in the order of the log. `page`: the events and others; `events`: those of the filter. */
export interface ConsumerPage {
  readonly page: FeedPage
  readonly events: readonly RecordedEvent[]
}

/** A reader of a consumer. Another reader that opens the consumer ends this one. */
export class ConsumerReader {
  readonly name: string
  readonly epoch: number
  readonly position: Cursor | null
  readonly filter: EventFilter
  readonly #parts: ReaderParts
  /** The last event that was given out. */
  #sent: Cursor | null = null
  #read: Cursor | null

  constructor(parts: ReaderParts) {
    this.#parts = parts
    this.name = parts.name
    this.epoch = parts.epoch
    this.position = parts.position
    this.filter = eventFilter(parts.filter)
    this.#read = parts.position
  }

  /** Everything up to here is read. */
  get read(): Cursor | null {
    return this.#read
  }

  /** The events up to a cursor are handled. Rejects with `CONSUMER_TAKEN` if another reader has opened the consumer. */
  ack(cursor: Cursor): Promise<Cursor> {
    return this.#parts.consumers.ack(this.name, this.epoch, cursor)
  }

  /**
   * The pages after the position, also those without events of the filter. `once`: ends at the present head of the log,
   * otherwise follows new events. Ends when the signal aborts. Rejects with `CONSUMER_TAKEN`, and with `NOT_FOUND` if the
   * consumer is removed.
   */
  async *pages(signal: AbortSignal, { once = false } = {}): AsyncGenerator<ConsumerPage> {
    const { feed } = this.#parts
    const over = new AbortController()
    const both = AbortSignal.any([signal, over.signal])
    const watching = this.#watch(over)
    try {
      for await (const page of once ? feed.read(this.#read) : feed.follow(this.#read, both)) {
        if (both.aborted) break
        yield this.#give(page, page.matching(this.filter))
        this.#read = page.end
      }
      if (once && !both.aborted) await this.#advance()
    } finally {
      if (!over.signal.aborted) over.abort(DONE)
      await watching
    }
    if (over.signal.reason !== DONE) throw over.signal.reason
  }

  /**
   * At most `max` events. Without one up to the head of the log, waits for the next ones for `waitMs`. The end of the
   * batch is {@link read}.
   */
  async *batch(max: number, waitMs: number, signal: AbortSignal): AsyncGenerator<ConsumerPage> {
    const { clock, feed } = this.#parts
    const deadline = clock.now() + Math.max(waitMs, SCAN_MS)
    const left = { events: max }
    yield* this.#upTo(left, feed.read(this.#read), () => signal.aborted || clock.now() > deadline)
    if (left.events === max && waitMs > 0 && clock.now() <= deadline && !signal.aborted) {
      const over = new AbortController()
      const both = AbortSignal.any([signal, over.signal])
      void clock
        .sleep(waitMs, both)
        .catch(() => undefined)
        .then(() => over.abort())
      try {
        yield* this.#upTo(left, feed.follow(this.#read, both), () => both.aborted || left.events < max)
      } finally {
        over.abort()
      }
    }
    if (left.events < max) return
    await this.#advance().catch((error: unknown) => {
      // Another reader has opened the consumer. The next ack of this one is refused.
      if (!(error instanceof Problem)) throw error
    })
  }

  /** Gives pages until no event is left to give, or until it is enough. */
  async *#upTo(left: { events: number }, pages: AsyncIterable<FeedPage>, isEnough: () => boolean) {
    for await (const page of pages) {
      const matching = page.matching(this.filter)
      const events = matching.slice(0, left.events)
      const last = events.at(-1)
      const isCut = last !== undefined && events.length < matching.length
      const given = isCut ? page.upTo(last, this.#parts.log.cursor(last)) : page
      left.events -= events.length
      yield this.#give(given, events)
      this.#read = given.end
      if (left.events === 0 || isEnough()) return
    }
  }

  #give(page: FeedPage, events: readonly RecordedEvent[]): ConsumerPage {
    const last = events.at(-1)
    if (last !== undefined) this.#sent = this.#parts.log.cursor(last)
    return { page, events }
  }

  #advance(): Promise<void> {
    const { consumers } = this.#parts
    return consumers.advance(this.name, this.epoch, () => ({ sent: this.#sent, read: this.#read }))
  }

  /** Ends the reader when another one has opened the consumer, or when the consumer is removed. */
  async #watch(over: AbortController): Promise<void> {
    while (!over.signal.aborted) {
      try {
        await this.#advance()
      } catch (error) {
        // Other errors are those of a store that does not answer. The next ack reports them.
        if (error instanceof Problem) over.abort(error)
      }
      await this.#parts.clock.sleep(LOOK_MS, over.signal).catch(() => undefined)
    }
  }
}

const DONE = new Error('the reader has ended')
