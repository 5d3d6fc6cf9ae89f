import type { RecordedEvent, SealedEvent } from '../../../domain/log/envelope.ts'
import type { Head } from '../../../domain/ports/index.ts'
import { Lru } from '../../memory/lru.ts'

// Followers are a few pages behind at most. What lies here has survived several collections, and takes long to leave the heap.
const KEPT_EVENTS = 512
const KEPT_BYTES = 2 * 1024 * 1024
const KEPT_HEADS = 20_000

/** An append that the writer has acknowledged. `position`: that of its last event. */
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
 * Cache of the owner's last events, so that those who follow it need not read it back from the file, and the heads
 * of the streams that it writes. It knows only what was acknowledged; {@link forget} it whenever that may not be all.
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
    // An append that was sent again may lie before others whose answer was lost: then the file is asked on.
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
   * Knows nothing until an append that empties bodies is answered. The file shows them empty before: a reader that finds one empty
   * must find the fact that names it too, which the file alone tells. Nor may a body be returned that was erased.
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

  /** From here on the file is asked, until it is certain again what its last event is. */
  forget(): void {
    this.#empty()
    this.#heads.clear()
    this.#last = null
  }

  /**
   * The last event that was acknowledged; null: the file knows. The file may hold more already. A reader that took some of
   * that from the file and some from here would skip or repeat events: the heads of streams end here.
   */
  get last(): Last | null {
    return this.#last
  }

  /** The events from a position on; null: ask the file. */
  from(position: number): readonly RecordedEvent[] | null {
    if (this.#last === null) return null
    if (position > this.#last.position) return []
    const first = this.#events[0]?.position ?? this.#last.position + 1
    return position < first ? null : this.#events.slice(position - first)
  }

  /** The head of a stream that was written lately; null: ask the file. */
  head(stream: string): Head | null {
    return this.#heads.get(stream) ?? null
  }

  #shorten(): void {
    const all = this.#events
    this.#empty()
    // Half of the limit, so that the next event does not cause it again. A single event may be larger: then nothing is kept.
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
