import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Cursor } from '../../../domain/log/cursor.ts'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import { ERASED_FACT } from '../../../domain/log/erased.ts'
import type { BlobStore, Clock, EventLog } from '../../../domain/ports/index.ts'
import { type FeedPage, feedPages } from './feed-page.ts'
import { EventViews } from './view.ts'

/** The limit of pages for clients that are slightly behind, in bytes, including encoded events. */
const KEPT_BYTES = 8 * 1024 * 1024
const KEPT_PAGES = 256
/** The most body bytes to collect before a page is published. */
const GATHERED_BYTES = 1024 * 1024
/** The time to collect events, in ms per client after the first. With many clients, pages become fewer and larger. */
const REST_MS = 5
const LONGEST_REST_MS = 500
/** The number of clients that are served in one turn of the event loop. Hundreds would delay other requests by 50 ms and more. */
const SERVED_AT_ONCE = 32

/** A client that waits for new events. */
export interface Watcher {
  wake(): void
}

export interface TailParts {
  readonly log: EventLog
  readonly blobs: BlobStore
  readonly clock: Clock
}

/**
 * The growing end of the log: one subscription with its last pages, for all clients. It waits for no client. After a
 * silence it publishes an event at once.
 */
export class SharedTail {
  readonly #log: EventLog
  readonly #clock: Clock
  readonly #views: EventViews
  readonly #watchers = new Set<Watcher>()
  readonly #over = new AbortController()
  #pages: FeedPage[] = []
  /** The pages contain every published event after this position. */
  #from: number
  #gathered: RecordedEvent[] = []
  #gatheredBytes = 0
  #resting = false
  #failure: { readonly error: unknown } | null = null

  constructor({ log, blobs, clock }: TailParts, after: Cursor | null) {
    this.#log = log
    this.#clock = clock
    this.#views = new EventViews(log, blobs)
    this.#from = after?.position ?? 0
    void this.#follow(after)
  }

  /** True: the tail has ended and publishes nothing more. */
  get over(): boolean {
    return this.#failure !== null || this.#over.signal.aborted
  }

  join(watcher: Watcher): void {
    this.#watchers.add(watcher)
  }

  /** Ends the subscription when the last client leaves. */
  leave(watcher: Watcher): void {
    this.#watchers.delete(watcher)
    if (this.#watchers.size === 0) this.#over.abort()
  }

  /**
   * The next page after a position. Null: not published yet. `missed`: no longer stored. Throws the error of the log.
   */
  next(position: number): FeedPage | null | 'missed' {
    if (this.#failure !== null) throw this.#failure.error
    if (position < this.#from) return 'missed'
    const page = this.#pages[this.#pages.findLastIndex(({ end }) => end.position <= position) + 1]
    return page?.after(position) ?? null
  }

  async #follow(after: Cursor | null): Promise<void> {
    try {
      for await (const events of this.#log.subscribe(after, this.#over.signal)) {
        this.#gathered.push(...events)
        this.#gatheredBytes += events.reduce((all, { header }) => all + header.body.size, 0)
        if (!this.#resting || this.#gatheredBytes > GATHERED_BYTES) this.#publish()
      }
    } catch (error) {
      this.#failure = { error }
      void this.#wake()
    }
  }

  #publish(): void {
    const events = this.#gathered
    this.#gathered = []
    this.#gatheredBytes = 0
    this.#pages.push(...feedPages(events, (event) => this.#log.cursor(event), this.#views))
    // After an erasure, drop all pages: they may contain erased bodies. Clients then read the log again.
    const erased = events.some(({ header }) => header.type === ERASED_FACT)
    let bytes = this.#pages.reduce((all, page) => all + page.bytes, 0)
    while (this.#pages.length > 0 && (erased || bytes > KEPT_BYTES || this.#pages.length > KEPT_PAGES)) {
      const oldest = this.#pages.shift()!
      bytes -= oldest.bytes
      this.#from = oldest.end.position
    }
    void this.#wake()
    if (!this.#resting) void this.#rest()
  }

  async #wake(): Promise<void> {
    let served = 0
    for (const watcher of [...this.#watchers]) {
      if (served > 0 && served % SERVED_AT_ONCE === 0) await (this.#clock.giveWay?.() ?? nextTurn())
      watcher.wake()
      served++
    }
  }

  async #rest(): Promise<void> {
    const ms = Math.min(LONGEST_REST_MS, REST_MS * (this.#watchers.size - 1))
    if (ms <= 0) return
    this.#resting = true
    await this.#clock.sleep(ms, this.#over.signal).catch(() => undefined)
    this.#resting = false
    if (this.#gathered.length > 0 && !this.over) this.#publish()
  }
}
