import type { RecordedEvent, SealedEvent } from '../../../domain/log/envelope.ts'
import type { Head } from '../../../domain/ports/index.ts'
import { Lru } from '../../memory/lru.ts'

/** The most bytes of events that the tail keeps for followers that are behind. */
const KEPT_BYTES = 4 * 1024 * 1024
/** Approximate memory use of an event besides its body, bytes. */
const EVENT_BYTES = 1024
/** Events that all followers have read are dropped at this number. */
const DROPPED_AT = 64
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

/** A reader of the tail. `next`: the position from which it reads on. */
export interface Follower {
  next: number
}

/**
 * A cache of the owner's last events and stream heads, so that subscribers need not read them from the file. It
 * contains only acknowledged appends: those that a follower has not read yet, within a limit in bytes. Events that all
 * have read leave early, because cached events survive garbage collections. Call {@link forget} whenever it may be
 * incomplete.
 */
export class Tail {
  readonly #lastInFile: () => number
  readonly #heads = new Lru<string, Head>(KEPT_HEADS)
  readonly #followers = new Set<Follower>()
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
      this.#bytes += sizeOf(event)
    })
    const { header, hash } = batch[batch.length - 1]!
    this.#last = { position, hash }
    this.#shorten()
    this.#heads.set(stream, { revision: header.revision, hash, timestamp: Date.parse(header.timestamp) })
  }

  /** Keeps later events until the follower has read them. Call {@link unfollow} at its end. */
  follow(next: number): Follower {
    const follower = { next }
    this.#followers.add(follower)
    return follower
  }

  unfollow(follower: Follower): void {
    this.#followers.delete(follower)
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

  /** The number of events from a position on. Null: read the file. */
  count(position: number): number | null {
    if (this.#last === null) return null
    const first = this.#events[0]?.position ?? this.#last.position + 1
    return position < first ? null : Math.max(0, this.#last.position - position + 1)
  }

  /** The events from a position on. Null: read the file. */
  from(position: number): readonly RecordedEvent[] | null {
    const count = this.count(position)
    return count === null ? null : this.#events.slice(this.#events.length - count)
  }

  /** The head of a recently written stream. Null: read the file. */
  head(stream: string): Head | null {
    return this.#heads.get(stream) ?? null
  }

  #shorten(): void {
    const first = this.#events[0]!.position
    let dropped = 0
    if (this.#bytes > KEPT_BYTES) {
      // Keep half of the limit, so that the next event does not shorten the tail again. If a single event is larger, keep
      // nothing.
      for (let bytes = this.#bytes; bytes > KEPT_BYTES / 2; dropped++) bytes -= sizeOf(this.#events[dropped]!)
    } else {
      let next = Number.POSITIVE_INFINITY
      for (const follower of this.#followers) next = Math.min(next, follower.next)
      dropped = Math.min(next - first, this.#events.length)
      if (dropped < DROPPED_AT) return
    }
    for (const event of this.#events.splice(0, dropped)) this.#bytes -= sizeOf(event)
  }

  #empty(): void {
    this.#events = []
    this.#bytes = 0
  }
}

const sizeOf = ({ body }: SealedEvent): number => EVENT_BYTES + (body?.length ?? 0)
