import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import type { Cursor } from '../../../domain/log/cursor.ts'
import type { RecordedEvent, SealedEvent } from '../../../domain/log/envelope.ts'
import { ConflictError, LogError } from '../../../domain/log/errors.ts'
import { GENESIS } from '../../../domain/log/seal.ts'
import type { EventLog, Head, ReadOptions } from '../../../domain/ports.ts'

type Stored = Omit<RecordedEvent, 'body'> & { body: string | null }

/** A log in memory, kept in a file where one is given, so that another process finds it. Pages are small on purpose. */
export class FakeLog implements EventLog {
  readonly logId = 'fakelog'
  readonly all: RecordedEvent[] = []
  readonly pageSize: number
  /** How many pages readers have taken. */
  pages = 0
  readonly #file: string | null
  #changed = Promise.withResolvers<void>()

  constructor(options: { file?: string; pageSize?: number } = {}) {
    this.#file = options.file ?? null
    this.pageSize = options.pageSize ?? 3
    if (this.#file && existsSync(this.#file)) {
      for (const line of readFileSync(this.#file, 'utf8').trim().split('\n')) {
        const stored = JSON.parse(line) as Stored
        this.all.push({ ...stored, body: stored.body === null ? null : Buffer.from(stored.body, 'base64') })
      }
    }
  }

  floor(): number {
    const last = this.all.at(-1)
    return last ? Date.parse(last.header.timestamp) : 0
  }

  async append(stream: string, expected: number, batch: readonly SealedEvent[]): Promise<{ position: number }> {
    const actual = this.stream(stream).length - 1
    if (actual !== expected) throw new ConflictError(stream, expected, actual)
    for (const event of batch) {
      const recorded = { ...event, position: this.all.length + 1 }
      this.all.push(recorded)
      const body = event.body && Buffer.from(event.body).toString('base64')
      if (this.#file) appendFileSync(this.#file, `${JSON.stringify({ ...recorded, body })}\n`)
    }
    this.#changed.resolve()
    this.#changed = Promise.withResolvers<void>()
    return { position: this.all.length }
  }

  stream(name: string): RecordedEvent[] {
    return this.all.filter((e) => e.header.stream === name)
  }

  /** Resolves at the next append. */
  changed(): Promise<void> {
    return this.#changed.promise
  }

  async head(stream: string): Promise<Head | null> {
    const last = this.stream(stream).at(-1)
    return last
      ? { revision: last.header.revision, hash: last.hash, timestamp: Date.parse(last.header.timestamp) }
      : null
  }

  async *read(stream: string, options: ReadOptions = {}): AsyncIterable<readonly RecordedEvent[]> {
    const from = options.from ?? 0
    yield* this.#paged(this.stream(stream).slice(from, options.limit === undefined ? undefined : from + options.limit))
  }

  async *readAll(after: Cursor | null, options: { limit?: number } = {}): AsyncIterable<readonly RecordedEvent[]> {
    const from = this.#place(after)
    yield* this.#paged(this.all.slice(from, options.limit === undefined ? undefined : from + options.limit))
  }

  async *subscribe(after: Cursor | null, signal: AbortSignal): AsyncIterable<readonly RecordedEvent[]> {
    let at = this.#place(after)
    const over = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    while (!signal.aborted) {
      const page = this.all.slice(at, at + this.pageSize)
      at += page.length
      if (page.length > 0) {
        this.pages++
        yield page
      } else await Promise.race([this.changed(), over])
    }
  }

  cursor(event: RecordedEvent): Cursor {
    return { logId: this.logId, position: event.position, hash: event.hash }
  }

  async headCursor(): Promise<Cursor> {
    const last = this.all.at(-1)
    return last ? this.cursor(last) : { logId: this.logId, position: 0, hash: GENESIS }
  }

  async *streams(prefix: string): AsyncIterable<readonly string[]> {
    yield [...new Set(this.all.map((e) => e.header.stream))].filter((s) => s.startsWith(prefix))
  }

  async close(): Promise<void> {}

  *#paged(events: readonly RecordedEvent[]): Iterable<readonly RecordedEvent[]> {
    for (let i = 0; i < events.length; i += this.pageSize) yield events.slice(i, i + this.pageSize)
  }

  #place(after: Cursor | null): number {
    if (!after || after.position === 0) return 0
    const there = this.all[after.position - 1]
    if (after.logId === this.logId && there?.hash === after.hash) return after.position
    throw new LogError('CURSOR_MISMATCH', 'the cursor is of another log')
  }
}
