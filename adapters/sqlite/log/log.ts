import { EventEmitter, once } from 'node:events'
import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep, setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { checkBatch } from '../../../domain/log/batch.ts'
import type { Cursor } from '../../../domain/log/cursor.ts'
import type { RecordedEvent, SealedEvent } from '../../../domain/log/envelope.ts'
import { erasuresOf } from '../../../domain/log/erased.ts'
import { LogError, shortened } from '../../../domain/log/errors.ts'
import { logIdOf } from '../../../domain/log/identity.ts'
import { LOG_META } from '../../../domain/log/ids.ts'
import type { EventLog, Head, ReadOptions } from '../../../domain/ports/index.ts'
import { backupLog } from './backup.ts'
import { toLogError } from './errors.ts'
import { endOfLog, gapsIn, type LogEnd } from './log-end.ts'
import { Reader } from './reader.ts'
import { type Acknowledged, type Last, Tail } from './tail.ts'
import { type RunSize, sizesOf } from './usage.ts'
import type { WriterThread } from './writer-thread.ts'

/**
 * The number of events at which a subscription returns a page although appends are pending. Subscribers process a page
 * more cheaply than single events, so a subscription gathers the events of pending appends. It does not wait if no
 * append is pending, or if it is so far behind that it reads from the file.
 */
const GATHERED = 256
/**
 * A gathering subscription returns its page at the first answer of the writer after both this time, in ms, and this
 * number of answers have passed. It has no timer. Subscribers would otherwise lag far behind slow appends.
 */
const GATHERED_MS = 50
const GATHERED_ANSWERS = 8

/** How often a reader in another process checks for new events, in ms. */
const LOOK_EVERY = 50

/** The parts of a log that only its owner has. `identity`: makes the first event of a log with this id. */
interface Owner {
  readonly writer: WriterThread
  readonly unlock: () => void
  readonly identity: (logId: string) => SealedEvent
}

/** The embedded default: an EventLog in one SQLite file. Open it with `openSqliteLog`. */
export class SqliteLog implements EventLog {
  readonly logId: string
  readonly erases = true
  readonly folder: string
  /** The result of comparing the log with its mark. */
  end: LogEnd
  readonly #db: DatabaseSync
  readonly #reader: Reader
  readonly #owner: Owner | null
  /** True: the log has lost its first event, and refuses appends until a person accepts the loss. */
  #headless = false
  /** Null: this log is a reader, and another process may write at any time. */
  readonly #tail: Tail | null
  readonly #news = new EventEmitter().setMaxListeners(0)
  #floor: number
  #closing: Promise<void> | null = null
  /** The error of all work, because the file is no longer the opened one. Null: it is. */
  #replaced: LogError | null = null
  /** The only stream that still accepts events; null: every stream does. */
  #lastStream: string | null = null

  constructor(parts: {
    folder: string
    db: DatabaseSync
    /** The id of a log that has lost its first event. Null: it has not. */
    lostId?: string | null
    owner?: Owner & { time: number; end: LogEnd }
  }) {
    this.folder = parts.folder
    this.#db = parts.db
    this.#owner = parts.owner ?? null
    this.#tail = parts.owner ? new Tail(() => this.#ask((reader) => reader.last().position)) : null
    try {
      this.#reader = new Reader(parts.db)
      this.end = parts.owner?.end ?? endOfLog(parts.folder, parts.db)
      const meta = this.#reader.streamId(LOG_META)
      const identity = meta === null ? undefined : this.#reader.streamPage(meta, 0, 0, 1, true)[0]
      this.#headless = identity === undefined && parts.lostId != null
      this.logId = this.#headless ? parts.lostId! : logIdOf(identity)
      this.#floor = Math.max(parts.owner?.time ?? 0, identity ? Date.parse(identity.header.timestamp) : 0)
    } catch (error) {
      parts.db.close()
      throw toLogError(error, 'open', parts.folder)
    }
  }

  /** The latest time passed to the writer, in ms. Times never decrease over the whole log. */
  floor(): number {
    return this.#floor
  }

  append(stream: string, expected: number, batch: readonly SealedEvent[]): Promise<{ readonly position: number }> {
    try {
      this.#open()
      if (!this.#owner)
        throw new LogError('LOG_LOCKED', `the log in ${this.folder} is open for reading; ask its owner, or become it`)
      if (this.#lastStream !== null && stream !== this.#lastStream) throw closed(this.folder)
      if (this.#headless) throw shortened(`the log in ${this.folder} has lost all of its events`)
      checkBatch(stream, expected, batch)
      const erases = erasuresOf(batch).length > 0
      this.#floor = Math.max(this.#floor, Date.parse(batch[batch.length - 1]!.header.timestamp))
      const appended = this.#owner.writer.append(stream, expected, batch)
      return erases && this.#tail ? this.#tail.rest(appended) : appended
    } catch (error) {
      return Promise.reject(error)
    }
  }

  async head(stream: string): Promise<Head | null> {
    return this.#head(stream)
  }

  #head(stream: string): Head | null {
    return this.#ask((reader) => {
      const known = this.#tail?.head(stream)
      if (known) return known
      const id = reader.streamId(stream)
      return id === null ? null : reader.head(id, this.#upTo)
    })
  }

  async *read(stream: string, options: ReadOptions = {}): AsyncGenerator<readonly RecordedEvent[]> {
    const { from = 0, limit = Number.MAX_SAFE_INTEGER, bodies = true, types } = options
    const head = this.#head(stream)
    if (!head || from > head.revision) return
    const id = this.#ask((reader) => reader.streamId(stream))
    if (id === null) return
    const to = Math.min(head.revision, from + limit - 1)
    for (let next = from; next <= to; ) {
      const page = this.#ask((reader) =>
        types === undefined
          ? reader.streamPage(id, next, to, to - next + 1, bodies)
          : reader.streamTypesPage(id, next, to, bodies, types),
      )
      if (page.length === 0) return
      next = page[page.length - 1]!.header.revision + 1
      yield page
      await yieldToEventLoop()
    }
  }

  readAll(after: Cursor | null, options: { limit?: number; bodies?: boolean } = {}) {
    // The head at the time of the call, not of the first page. A closed log rejects at the iteration.
    const to = this.#closing ? 0 : this.#last().position
    return this.#pages(after, to, options.limit ?? Number.MAX_SAFE_INTEGER, options.bodies ?? true)
  }

  async *#pages(after: Cursor | null, to: number, limit: number, bodies: boolean) {
    let next = this.#start(after)
    for (let left = limit; left > 0; ) {
      const page = this.#ask((reader) => reader.logPage(next, to, left, bodies))
      if (page.length === 0) return
      next = page[page.length - 1]!.position + 1
      left -= page.length
      yield page
      await yieldToEventLoop()
    }
  }

  async *subscribe(after: Cursor | null, signal: AbortSignal): AsyncGenerator<readonly RecordedEvent[]> {
    let next = this.#start(after)
    let since: number | null = null
    let answers = 0
    const follower = this.#tail?.follow(next)
    try {
      while (!signal.aborted) {
        const seen = this.#owner ? 0 : this.#ask((reader) => reader.dataVersion())
        const count = this.#ask(() => this.#tail?.count(next) ?? null)
        if (count !== null && count > 0 && count < GATHERED && this.#owner?.writer.busy) {
          since ??= performance.now()
          if (answers++ < GATHERED_ANSWERS || performance.now() - since < GATHERED_MS) {
            await this.#change(seen, signal)
            continue
          }
        }
        const limit = Number.MAX_SAFE_INTEGER
        const fresh = count === null ? null : this.#tail?.from(next)
        const page = fresh ?? this.#ask((reader) => reader.logPage(next, this.#upTo, limit, true))
        if (page.length === 0) {
          await this.#change(seen, signal)
          continue
        }
        since = null
        answers = 0
        next = page[page.length - 1]!.position + 1
        if (follower !== undefined) follower.next = next
        yield page
        await yieldToEventLoop()
      }
    } finally {
      if (follower !== undefined) this.#tail?.unfollow(follower)
    }
  }

  /** Resolves when there may be new events. An owner is notified of its own commits; a reader polls the file. */
  async #change(seen: number, signal: AbortSignal): Promise<void> {
    const aborted = () => undefined
    if (this.#owner) {
      await once(this.#news, 'news', { signal }).catch(aborted)
      // Let the caller of the append continue first. A subscription may lag behind.
      await yieldToEventLoop()
      return
    }
    while (!signal.aborted && this.#ask((reader) => reader.dataVersion()) === seen)
      await sleep(LOOK_EVERY, undefined, { signal }).catch(aborted)
  }

  /** The hashes of the events at positions `from` to `to`, inclusive, in order. */
  async hashes(from: number, to: number): Promise<readonly string[]> {
    return this.#ask((reader) => reader.hashes(from, to))
  }

  cursor(event: RecordedEvent): Cursor {
    return { logId: this.logId, position: event.position, hash: event.hash }
  }

  async headCursor(): Promise<Cursor> {
    return { logId: this.logId, ...this.#last() }
  }

  async *streams(prefix: string): AsyncGenerator<readonly string[]> {
    for (let after = 0; ; ) {
      const page = this.#ask((reader) => reader.streamsPage(after, prefix, this.#upTo))
      if (page.length === 0) return
      after = page[page.length - 1]!.id
      yield page.map(({ name }) => name)
      await yieldToEventLoop()
    }
  }

  /** The bytes of these runs (absent: of all runs), in the order of run ids. Reads at most a few hundred events. */
  async sizes(runIds?: readonly string[]): Promise<readonly RunSize[]> {
    return this.#ask(() => sizesOf(this.#db, runIds))
  }

  /** The number of erased bodies of the whole log, those of appends without an answer too. */
  async erasures(): Promise<number> {
    return this.#ask((reader) => reader.erasures())
  }

  /** Ranges of positions without an event, before later events. Written positions have no gaps. At most `limit`. */
  async gaps(limit = 20): Promise<readonly { readonly from: number; readonly to: number }[]> {
    return this.#ask(() => gapsIn(this.#db, limit))
  }

  /**
   * Runs `record`, which records that a person accepts the loss of the log's end. The old mark remains until `record`
   * has resolved, so that a crash before leaves the loss detectable.
   */
  async acceptingLoss<T>(record: () => Promise<T>): Promise<T> {
    this.#open()
    if (!this.#owner) throw new LogError('LOG_LOCKED', `the log in ${this.folder} is open for reading; ask its owner`)
    this.#owner.writer.accept()
    if (this.#headless) {
      await this.#owner.writer.append(LOG_META, -1, [this.#owner.identity(this.logId)])
      this.#headless = false
    }
    const done = await record()
    await this.#owner.writer.accepted()
    this.end = { state: 'whole', torn: false }
    return done
  }

  /**
   * Copies the log at one moment into `toFolder`, which must not contain a log. The log remains usable meanwhile. Does
   * not copy blobs. Returns the cursor of the copy's last event.
   */
  async backup(toFolder: string): Promise<Cursor> {
    this.#open()
    return backupLog(this.folder, toFolder, this.logId)
  }

  /** Refuses events of all other streams from now on, as a closed log does. Call it before the last signature. */
  endWith(stream: string): void {
    this.#lastStream = stream
  }

  /** Waits for the answers of all appends, then closes. Subscriptions end with `LOG_CLOSED`. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.wake()
    await this.#owner?.writer.look()
    // SQLite's last connection moves the WAL into the main file and removes it. If another file took the log's place,
    // both could be the restored ones. A read-only connection leaves them alone, so it must be the last one.
    if (this.#replaced === null) this.#db.close()
    await this.#owner?.writer.close()
    if (this.#replaced !== null) this.#db.close()
    this.#owner?.unlock()
  }

  /** Adds an acknowledged append to the tail. Call before the append's caller gets the answer. */
  written(append: Acknowledged): void {
    if (!this.#closing) this.#tail?.add(append)
  }

  /** Clears the tail, which may be incomplete or outdated. */
  unknown(): void {
    this.#tail?.forget()
    this.wake()
  }

  /** Ends the work with the log. */
  replaced(error: LogError): void {
    this.#replaced ??= error
    this.wake()
  }

  /** Notifies subscribers of possible new events. */
  wake(): void {
    this.#news.emit('news')
  }

  /** The log's last event. For an owner, the last acknowledged event, as in {@link head} and {@link read}. */
  #last(): Last {
    return this.#ask((reader) => this.#tail?.last ?? reader.last())
  }

  /** The last position to read. For an owner, the position of the last acknowledged event. */
  get #upTo(): number {
    return this.#tail?.last?.position ?? Number.MAX_SAFE_INTEGER
  }

  #start(after: Cursor | null): number {
    if (!after) return 1
    this.#ask((reader) => reader.check(after, this.logId))
    return after.position + 1
  }

  #ask<T>(question: (reader: Reader) => T): T {
    this.#open()
    try {
      return question(this.#reader)
    } catch (error) {
      throw toLogError(error, 'read', this.folder)
    }
  }

  #open(): void {
    if (this.#closing) throw closed(this.folder)
    if (this.#replaced !== null) throw this.#replaced
  }
}

const closed = (folder: string) => new LogError('LOG_CLOSED', `the log in ${folder} was closed; open it again`)
