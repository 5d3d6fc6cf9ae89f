import { checkBatch } from '../../domain/log/batch.ts'
import type { Cursor } from '../../domain/log/cursor.ts'
import type { OnDamage } from '../../domain/log/damage.ts'
import type { RecordedEvent, SealedEvent } from '../../domain/log/envelope.ts'
import { ERASED_FACT, eraseImpossible } from '../../domain/log/erased.ts'
import { LogError } from '../../domain/log/errors.ts'
import type { EventLog, Head, ReadAllOptions, ReadOptions } from '../../domain/ports/index.ts'
import type { Appender } from './append.ts'
import { isLong, printableName } from './codec.ts'
import { type Cursors, isMismatch } from './cursor.ts'
import { type Following, follow } from './follow.ts'
import { isOwnName } from './foreign-events.ts'
import type { LogParts } from './log-parts.ts'
import type { StreamReader } from './read.ts'
import type { Spot } from './seen-events.ts'

/**
 * An EventLog in the streams `<namespace>.*` of an EventStoreDB. Open it with `openEventStoreLog`. Streams are
 * independent, so the floor is 0.
 */
export class EventStoreLog implements EventLog {
  readonly logId: string
  readonly erases = false
  readonly #place: LogParts
  readonly #reader: StreamReader
  readonly #appender: Appender
  readonly #cursors: Cursors
  readonly #end: () => Promise<void>
  #closing: Promise<void> | null = null

  /** `end`: aborts `place.closed`, waits for the pending appends, then releases the connection. */
  constructor(
    parts: { place: LogParts; reader: StreamReader; appender: Appender; cursors: Cursors },
    end: () => Promise<void>,
  ) {
    this.#place = parts.place
    this.#reader = parts.reader
    this.#appender = parts.appender
    this.#cursors = parts.cursors
    this.#end = end
    this.logId = parts.cursors.logId
  }

  floor(): number {
    return 0
  }

  /**
   * The last event that this process has seen and the log has since lost; null: none. While an event is lost, the log
   * refuses appends.
   */
  get lost(): Cursor | null {
    const { lost } = this.#place.known
    return lost && this.#cursors.of(lost)
  }

  /** Allows appends again after the caller has dealt with the {@link lost} event. */
  settle(): void {
    this.#place.known.settle()
  }

  append(
    stream: string,
    expected: number,
    batch: readonly SealedEvent[],
    limitMs?: number,
  ): Promise<{ readonly position: number }> {
    try {
      this.#open()
      checkBatch(stream, expected, batch)
      if (batch.some(({ header }) => header.type === ERASED_FACT)) throw eraseImpossible()
      if (!isOwnName(stream) || batch.some(({ header }) => isLong(header))) throw notOwn(stream)
      return this.#appender.append(stream, expected, batch, limitMs)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  async head(stream: string): Promise<Head | null> {
    this.#open()
    return this.#reader.head(stream)
  }

  async *read(stream: string, options: ReadOptions = {}): AsyncGenerator<readonly RecordedEvent[]> {
    this.#open()
    const { from = 0, limit = Number.MAX_SAFE_INTEGER, bodies = true, onDamage } = options
    const pages = onDamage ? this.#asGiven(stream, from, limit, onDamage) : this.#reader.pages(stream, from, limit)
    for await (const page of pages) {
      yield bodies ? page : page.map(withoutBody)
      this.#open()
    }
  }

  /** A stream's events by the whole log, which also contains events that the stream's metadata hides. */
  async *#asGiven(stream: string, from: number, limit: number, tell: OnDamage): AsyncGenerator<RecordedEvent[]> {
    const onDamage: OnDamage = (found) => {
      if (found.stream === stream && (found.revision ?? from) >= from) tell(found)
    }
    let left = limit
    for await (const page of this.#follow({ after: null, prefix: stream, ends: true, onDamage })) {
      const own = page.filter(({ header }) => header.stream === stream && header.revision >= from).slice(0, left)
      left -= own.length
      yield own
      if (left <= 0) return
    }
  }

  async *readAll(
    after: Cursor | null,
    { limit = Number.MAX_SAFE_INTEGER, bodies = true, onDamage, everyKind }: ReadAllOptions = {},
  ) {
    let left = limit
    for await (const page of this.#follow({ after, prefix: '', ends: true, onDamage, everyKind })) {
      const part = page.slice(0, left)
      left -= part.length
      if (part.length > 0 || onDamage) yield bodies ? part : part.map(withoutBody)
      if (left <= 0) return
      this.#open()
    }
  }

  subscribe(
    after: Cursor | null,
    signal: AbortSignal,
    { onDamage, everyKind }: Pick<ReadAllOptions, 'onDamage' | 'everyKind'> = {},
  ): AsyncGenerator<readonly RecordedEvent[]> {
    return this.#follow({ after, signal, prefix: '', onDamage, everyKind })
  }

  async *#follow(following: Following): AsyncGenerator<readonly RecordedEvent[]> {
    this.#open()
    yield* follow(this.#place, this.#cursors, following)
  }

  cursor(event: RecordedEvent): Cursor {
    return this.#cursors.of(event)
  }

  async headCursor(): Promise<Cursor> {
    this.#open()
    const { known } = this.#place
    try {
      return await this.#headFrom(known.last ?? (await this.#cursors.last()))
    } catch (error) {
      if (!isMismatch(error)) throw error
      await this.#cursors.stillKnown()
      return await this.#headFrom(await this.#cursors.last())
    }
  }

  async #headFrom(spot: Spot): Promise<Cursor> {
    let last = spot
    for await (const page of this.#follow({ after: this.#cursors.of(spot), prefix: '', ends: true }))
      last = page.at(-1)!
    return this.#cursors.of(last)
  }

  /** The server searches the whole log, but returns only events of streams with this prefix. */
  async *streams(prefix: string): AsyncGenerator<readonly string[]> {
    for await (const page of this.#follow({ after: null, prefix, ends: true })) {
      const born = page.filter(({ header }) => header.revision === 0)
      if (born.length > 0) yield born.map(({ header }) => header.stream)
      this.#open()
    }
  }

  /** Waits for the answers of all appends, then closes. Subscriptions end with `LOG_CLOSED`. */
  close(): Promise<void> {
    this.#closing ??= this.#end()
    return this.#closing
  }

  #open(): void {
    this.#place.closed.throwIfAborted()
  }
}

// Readers would skip this stream as one of another program.
const notOwn = (stream: string) =>
  new LogError(
    'APPEND_INVALID',
    `${printableName(stream)} is no stream of keepup's, or bears a name of more than 256 characters; name it agent-…, document-… or external-…`,
  )

const withoutBody = (event: RecordedEvent): RecordedEvent => ({ ...event, body: null })
