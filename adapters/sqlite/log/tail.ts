import type { RecordedEvent, SealedEvent } from '../../../domain/log/envelope.ts'
import type { Head } from '../../../domain/ports/index.ts'
import { Lru } from '../../memory/lru.ts'

// The limits of the tail. Subscribers are at most a few pages behind. Cached events survive several garbage collections
// and leave the heap late.
const KEPT_EVENTS = 512
const KEPT_BYTES = 2 * 1024 * 1024
const KEPT_HEADS = 20_000

/** An append that the writer has acknowledged. `position`: the position of its last event. */
export interface Acknowledged {
  readonly stream: string
  readonly batch: readonly SealedEvent[]
  readonly position: number
}

/** Position and hash of a log's last event. */
export interface Last {
  readonly position: number
  readonly hash: string
}

/**
 * A cache of the owner's last events and stream heads, so that subscribers need not read them from the file. It
 * contains only acknowledged appends. Call {@link forget} whenever it may be incomplete.
 */
export class Tail {
  readonly #lastInFile: () => number
  readonly #heads = new Lru<string, Head>(KEPT_HEADS)
  #events: RecordedEvent[] = []
  #bytes = 0
  #last: Last | null = null
  #resting = 0

  /** `lastInFile`: the position of the last event in the file. */
  constructor(lastInFile: () => number) {
    this.#lastInFile = lastInFile
  }

  add({ stream, batch, position }: Acknowledged): void {
    if (this.#resting > 0) return
    const first = position - batch.length + 1
    // A resent append may precede appends whose answers were lost. In that case continue to read from the file.
    if (this.#last === null ? position !== this.#lastInFile() : position <= this.#last.position) return
    if (this.#last?.position !== first - 1) this.forget()
    batch.forEach((event, index) => {
      this.#events.push({ ...event, position: first + index })
      this.#bytes += event.body?.length ?? 0
    })
    const { header, hash } = batch[batch.length - 1]!
    this.#last = { position, hash }
    if (this.#events.length > 2 * KEPT_EVENTS || this.#bytes > KEPT_BYTES) this.#shorten()
    this.#heads.set(stream, { revision: header.revision, hash, timestamp: Date.parse(header.timestamp) })
  }

  /**
   * Keeps the tail empty until the answer of an append that empties bodies. The file shows the empty bodies before the
   * answer. A reader of an empty body must also find its `erased` fact, which only the file has at that time. An erased
   * body must not be returned from the tail either.
   */
  async rest<T>(erasure: Promise<T>): Promise<T> {
    this.#resting++
    this.forget()
    try {
      return await erasure
    } finally {
      this.#resting--
    }
  }

  /** Clears the tail. Reads use the file until its last event is certain again. */
  forget(): void {
    this.#empty()
    this.#heads.clear()
    this.#last = null
  }

  /**
   * The last acknowledged event. Null: read the file. The file may already contain later events. Readers and stream
   * heads must stop at this event: mixing later events of the file with the tail would skip or repeat events.
   */
  get last(): Last | null {
    return this.#last
  }

  /** The events from a position on. Null: read the file. */
  from(position: number): readonly RecordedEvent[] | null {
    if (this.#last === null) return null
    if (position > this.#last.position) return []
    const first = this.#events[0]?.position ?? this.#last.position + 1
    return position < first ? null : this.#events.slice(position - first)
  }

  /** The head of a recently written stream. Null: read the file. */
  head(stream: string): Head | null {
    return this.#heads.get(stream) ?? null
  }

  #shorten(): void {
    const all = this.#events
    this.#empty()
    // Keep half of the limit, so that the next event does not shorten the tail again. If a single event is larger, keep
    // nothing.
    let from = all.length
    for (; from > 0 && all.length - from < KEPT_EVENTS; from--) {
      const bytes = this.#bytes + (all[from - 1]!.body?.length ?? 0)
      if (bytes > KEPT_BYTES / 2) break
      this.#bytes = bytes
    }
    this.#events = all.slice(from)
  }

  #empty(): void {
    this.#events = []
    this.#bytes = 0
  }
}
