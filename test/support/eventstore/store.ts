import { EventEmitter } from 'node:events'
import { Metadata, softDeleted } from './metadata.ts'

/** An event as a client proposes it. */
export interface Proposed {
  readonly id: string
  readonly type: string
  readonly contentType: string
  readonly data: Uint8Array
  readonly metadata: Uint8Array
}

/** An event in the log. `position`: byte offset; `created`: ms since the epoch. */
export interface Stored extends Proposed {
  readonly stream: string
  readonly revision: number
  readonly position: number
  readonly created: number
}

/** A revision (-1: no stream), or `any` or `exists`, for which only a memory cache detects repetitions. */
export type Expected = number | 'any' | 'exists'

/** The outcome of an append. `position` null: the events are not visible. `current` -1: no stream. */
export type Outcome =
  | { readonly is: 'written'; readonly revision: number; readonly position: number | null }
  | { readonly is: 'wrong'; readonly current: number }
  | { readonly is: 'deleted' | 'bad-request' | 'no-quorum' }
  | { readonly is: 'too-large'; readonly most: number }

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
export const DELETED = '$streamDeleted'

/** The events of all nodes of one deployment, with EventStoreDB 23.10's check of appends. */
export class Store {
  readonly all: Stored[] = []
  readonly news = new EventEmitter().setMaxListeners(0)
  readonly #streams = new Map<string, Stored[]>()
  readonly #tombstoned = new Set<string>()
  /** Ids of recent appends, for `any`; lost at a restart. */
  readonly #cached = new Map<string, Stored>()
  /** Appends without a quorum, in order. No reader sees them. They are written later, or lost with their leader. */
  #waiting: Stored[] = []
  quorum = true
  maxAppendSize = 1024 * 1024
  skewMs = 0
  #end = 0

  constructor() {
    this.#write([this.#stored('$$$scavenges', 0, json('$metadata', '00000000-0000-4000-8000-000000000000', {}))])
  }

  /** A copy, like a copy of the folder: the same events at the same positions. */
  copy(): Store {
    const copy = new Store()
    copy.all.length = 0
    copy.#streams.clear()
    copy.#end = 0
    copy.#write(this.all)
    for (const stream of this.#tombstoned) copy.#tombstoned.add(stream)
    return copy
  }

  append(stream: string, expected: Expected, events: readonly Proposed[]): Outcome {
    if (stream === '' || events.some(({ id, type }) => type === '' || !UUID.test(id))) return { is: 'bad-request' }
    if (this.#tombstoned.has(stream)) return { is: 'deleted' }
    const size = events.reduce((sum, { data }) => sum + data.length, 0)
    if (size > this.maxAppendSize) return { is: 'too-large', most: this.maxAppendSize }
    const held = this.#streams.get(stream) ?? []
    if (events.length === 0) return { is: 'written', revision: Math.max(held.length - 1, 0), position: this.#end }
    if (typeof expected === 'number') return this.#atRevision(stream, held, expected, events)
    const soft = this.metadata(stream).softDeleted
    if (expected === 'exists' && soft) return { is: 'deleted' }
    if (expected === 'exists' && held.length === 0 && !this.#streams.has(`$$${stream}`))
      return { is: 'wrong', current: -1 }
    return this.#byCache(stream, held, events)
  }

  #atRevision(stream: string, held: readonly Stored[], expected: number, events: readonly Proposed[]): Outcome {
    const waiting = this.#waiting.filter((event) => event.stream === stream)
    const known = [...held, ...waiting]
    const head = known.length - 1
    const revives = expected === -1 && held.length > 0 && this.metadata(stream).softDeleted
    const same = events.every(({ id }, index) => id.toLowerCase() === known[expected + 1 + index]?.id)
    if (expected < head && same) {
      const last = known[expected + events.length]!
      if (waiting.includes(last)) return { is: 'no-quorum' }
      return { is: 'written', revision: last.revision, position: this.isVisible(last) ? last.position : null }
    }
    if (expected !== head && !revives) return { is: 'wrong', current: head }
    return this.#take(stream, known.length, events)
  }

  #byCache(stream: string, held: readonly Stored[], events: readonly Proposed[]): Outcome {
    const first = this.#cached.get(`${stream} ${events[0]!.id.toLowerCase()}`)
    if (!first) return this.#take(stream, held.length, events)
    const same = events.every(({ id }, index) => id.toLowerCase() === held[first.revision + index]?.id)
    if (!same) return { is: 'wrong', current: held.length - 1 }
    const last = held[first.revision + events.length - 1]!
    return { is: 'written', revision: last.revision, position: this.isVisible(last) ? last.position : null }
  }

  #take(stream: string, from: number, events: readonly Proposed[]): Outcome {
    const stored = events.map((event, index) => this.#stored(stream, from + index, event))
    if (!this.quorum) {
      this.#waiting.push(...stored)
      return { is: 'no-quorum' }
    }
    // A write to a deleted stream continues at its old revision.
    if (this.metadata(stream).softDeleted) this.setMetadata(stream, { $tb: from })
    this.#write(stored)
    const last = this.all[this.all.length - 1]!
    return { is: 'written', revision: last.revision, position: last.position }
  }

  #stored(stream: string, revision: number, event: Proposed): Stored {
    return { ...event, id: event.id.toLowerCase(), stream, revision, position: -1, created: Date.now() + this.skewMs }
  }

  #write(events: readonly Stored[]): void {
    for (const event of events) {
      const placed = { ...event, position: this.#end }
      this.#end += 80 + event.stream.length + event.type.length + event.data.length + event.metadata.length
      this.all.push(placed)
      const held = this.#streams.get(event.stream)
      if (held) held.push(placed)
      else this.#streams.set(event.stream, [placed])
      this.#cached.set(`${event.stream} ${event.id}`, placed)
    }
    this.news.emit('news')
  }

  /** Restores the quorum and writes the waiting appends. */
  land(): void {
    this.quorum = true
    const waiting = this.#waiting
    this.#waiting = []
    this.#write(waiting)
  }

  /** Drops the waiting appends, because their leader failed. */
  vanish(): void {
    this.quorum = true
    this.#waiting = []
  }

  /** Drops everything that a process keeps only in memory. */
  restarted(): void {
    this.#cached.clear()
  }

  /** All events of a stream, including hidden ones; undefined: the stream never existed. */
  events(stream: string): readonly Stored[] | undefined {
    return this.#streams.get(stream)
  }

  /** The visible events of a stream; null: not found (never written, or deleted). */
  visible(stream: string): readonly Stored[] | null {
    const held = this.#streams.get(stream)
    if (!held || this.metadata(stream).softDeleted) return null
    // Without metadata nothing is hidden. Skip the filter, because it would slow down reads of a long stream.
    return this.#streams.has(`$$${stream}`) ? held.filter((event) => this.isVisible(event)) : held
  }

  isVisible(event: Stored): boolean {
    const count = this.#streams.get(event.stream)?.length ?? 0
    return this.metadata(event.stream).shows(event, count, Date.now() + this.skewMs)
  }

  metadata(stream: string): Metadata {
    return new Metadata(this.#streams.get(`$$${stream}`)?.at(-1)?.data)
  }

  setMetadata(stream: string, metadata: object): void {
    const name = `$$${stream}`
    const event = json('$metadata', crypto.randomUUID(), metadata)
    this.#write([this.#stored(name, this.#streams.get(name)?.length ?? 0, event)])
  }

  isTombstoned(stream: string): boolean {
    return this.#tombstoned.has(stream)
  }

  /**
   * Deletes a stream, permanently with `forEver`; else the stream can be written again. Refused at a wrong revision.
   */
  delete(stream: string, expected: Expected, forEver: boolean): Outcome {
    if (this.#tombstoned.has(stream)) return { is: 'deleted' }
    const head = (this.#streams.get(stream)?.length ?? 0) - 1
    if (head < 0 || (typeof expected === 'number' && expected !== head)) return { is: 'wrong', current: head }
    if (forEver) {
      this.#write([this.#stored(stream, head + 1, json(DELETED, crypto.randomUUID(), {}))])
      this.#tombstoned.add(stream)
    } else this.setMetadata(stream, softDeleted)
    return { is: 'written', revision: head, position: this.all.at(-1)!.position }
  }
}

function json(type: string, id: string, value: object): Proposed {
  const data = new TextEncoder().encode(JSON.stringify(value))
  return { id, type, contentType: 'application/json', data, metadata: new Uint8Array() }
}
