import { randomBytes } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { checkBatch } from '../../domain/log/batch.ts'
import { checkNext } from '../../domain/log/chain.ts'
import type { Cursor } from '../../domain/log/cursor.ts'
import type { RecordedEvent, SealedEvent } from '../../domain/log/envelope.ts'
import { erasuresOf, noSuchBody } from '../../domain/log/erased.ts'
import { ConflictError, cursorError, LogError } from '../../domain/log/errors.ts'
import { logIdOf, sealIdentity } from '../../domain/log/identity.ts'
import type { Clock, EventLog, Head, Random, ReadOptions } from '../../domain/ports/index.ts'

const PAGE = 256

/** The sources of time and randomness. Absent: those of the system. */
export interface MemoryLogOptions {
  readonly clock?: Pick<Clock, 'now'>
  readonly random?: Random
}

/**
 * The reference EventLog, in memory. It has the idempotence of EventStoreDB, which compares only ids: an append at an
 * old revision succeeds if and only if its ids equal the stored ids there. Tests thus cover the case that the salt of
 * sealing prevents. Streams are independent, so the floor is 0.
 */
export class MemoryLog implements EventLog {
  readonly logId: string
  readonly erases: boolean = true
  readonly #events: RecordedEvent[] = []
  readonly #streams = new Map<string, RecordedEvent[]>()
  readonly #news = new EventEmitter().setMaxListeners(0)
  #closed = false

  constructor(options: MemoryLogOptions = {}) {
    const bytes = options.random?.bytes(26) ?? randomBytes(26)
    const identity = sealIdentity(bytes, new Date(options.clock?.now() ?? Date.now()).toISOString())
    this.logId = logIdOf(identity)
    this.#write(identity.header.stream, [identity])
  }

  floor(): number {
    return 0
  }

  append(stream: string, expected: number, batch: readonly SealedEvent[]): Promise<{ readonly position: number }> {
    try {
      this.#open()
      checkBatch(stream, expected, batch)
      return Promise.resolve({ position: this.#append(stream, expected, batch) })
    } catch (error) {
      return Promise.reject(error)
    }
  }

  #append(stream: string, expected: number, batch: readonly SealedEvent[]): number {
    const erasures = erasuresOf(batch)
    const stored = this.#streams.get(stream) ?? []
    const head = stored.length - 1
    if (expected > head) throw new ConflictError(stream, expected, head)
    if (expected < head) {
      if (batch.some((event, i) => event.id !== stored[expected + 1 + i]?.id))
        throw new ConflictError(stream, expected, head)
      return stored[expected + batch.length]!.position
    }
    const last = stored[head]
    checkNext(last ? { hash: last.hash, timestamp: last.header.timestamp } : null, batch)
    for (const { revision, bodyHash } of erasures)
      if (stored[revision]?.header.body.hash !== bodyHash) throw noSuchBody(stream, revision)
    for (const { revision } of erasures) this.#empty(stored, revision)
    return this.#write(stream, batch)
  }

  #write(stream: string, batch: readonly SealedEvent[]): number {
    let stored = this.#streams.get(stream)
    if (!stored) {
      stored = []
      this.#streams.set(stream, stored)
    }
    for (const event of batch) {
      const recorded = { ...event, position: this.#events.length + 1 }
      this.#events.push(recorded)
      stored.push(recorded)
    }
    this.#news.emit('news')
    return this.#events.length
  }

  #empty(stored: RecordedEvent[], revision: number): void {
    const emptied: RecordedEvent = { ...stored[revision]!, body: null, erased: true }
    stored[revision] = emptied
    this.#events[emptied.position - 1] = emptied
  }

  async head(stream: string): Promise<Head | null> {
    this.#open()
    const last = this.#streams.get(stream)?.at(-1)
    if (!last) return null
    return { revision: last.header.revision, hash: last.hash, timestamp: Date.parse(last.header.timestamp) }
  }

  read(stream: string, options: ReadOptions = {}): AsyncIterable<readonly RecordedEvent[]> {
    const stored = this.#streams.get(stream) ?? []
    const from = options.from ?? 0
    const { types } = options
    const to = Math.min(stored.length, from + (options.limit ?? Infinity))
    if (types === undefined) return this.#pages(stored, from, to, options.bodies)
    const wanted = stored.slice(from, to).filter(({ header }) => types.includes(header.type))
    return this.#pages(wanted, 0, wanted.length, options.bodies)
  }

  readAll(after: Cursor | null, options: { limit?: number; bodies?: boolean } = {}) {
    const to = Math.min(this.#events.length, (after?.position ?? 0) + (options.limit ?? Infinity))
    return this.#pages(this.#events, after, to, options.bodies)
  }

  async *#pages(from: readonly RecordedEvent[], start: Cursor | number | null, to: number, bodies = true) {
    this.#open()
    let next = typeof start === 'number' ? start : this.#positionOf(start)
    while (next < to) {
      const page = from.slice(next, Math.min(to, next + PAGE))
      next += page.length
      yield bodies ? page : page.map((event) => ({ ...event, body: null }))
      this.#open()
    }
  }

  async *subscribe(after: Cursor | null, signal: AbortSignal): AsyncGenerator<readonly RecordedEvent[]> {
    this.#open()
    let next = this.#positionOf(after)
    while (!signal.aborted) {
      this.#open()
      const page = this.#events.slice(next, next + PAGE)
      next += page.length
      if (page.length > 0) yield page
      else await once(this.#news, 'news', { signal }).catch(() => signal.aborted)
    }
  }

  #positionOf(cursor: Cursor | null): number {
    if (!cursor) return 0
    if (cursor.logId !== this.logId || this.#events[cursor.position - 1]?.hash !== cursor.hash)
      throw cursorError('CURSOR_MISMATCH', `the cursor is of another log than ${this.logId}; read from the start`)
    return cursor.position
  }

  cursor(event: RecordedEvent): Cursor {
    return { logId: this.logId, position: event.position, hash: event.hash }
  }

  async headCursor(): Promise<Cursor> {
    this.#open()
    return this.cursor(this.#events.at(-1)!)
  }

  async *streams(prefix: string): AsyncGenerator<readonly string[]> {
    this.#open()
    const names = [...this.#streams.keys()].filter((name) => name.startsWith(prefix))
    for (let at = 0; at < names.length; at += PAGE) yield names.slice(at, at + PAGE)
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#news.emit('news')
  }

  #open(): void {
    if (this.#closed) throw new LogError('LOG_CLOSED', 'the log was closed; open a new one')
  }
}
