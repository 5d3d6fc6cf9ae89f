import type { Cursor } from '../../../domain/log/cursor.ts'
import { READER } from '../../../domain/log/envelope.ts'
import { LogError } from '../../../domain/log/errors.ts'
import type { BlobStore, EventLog } from '../../../domain/ports/index.ts'
import { Mutex } from '../../../domain/stream/runtime/concurrency.ts'
import { KINDS, type StreamKinds } from '../../kinds.ts'
import type { Poison } from '../changes/poison.ts'
import { partsOf } from '../chunks.ts'
import { ProjectionError } from '../errors.ts'
import type { Progress, Store } from '../store/store.ts'
import { counted } from '../text.ts'
import { bodySize } from './body.ts'
import { type LogEntry, upToPosition, withDamage } from './damage.ts'
import { foldBatch, keptAgain, refolded, type Sources } from './fold.ts'
import { bisected, parkedAtRefusal } from './refused.ts'
import { ResidueCache } from './residue-cache.ts'
import { Waiters } from './waiters.ts'

export interface ProjectorOptions {
  readonly log: EventLog
  readonly blobs: BlobStore
  readonly store: Store
  /** The greatest `minReader` that is supported; default: this program's. */
  readonly reader?: number
  /** Row rules by kind of stream; default: this program's. */
  readonly kinds?: StreamKinds
}

export interface ProjectorStatus {
  /** `waiting`: a newer program must take over. `reason` explains `waiting` and `stopped`. */
  readonly state: 'idle' | 'running' | 'waiting' | 'stopped'
  readonly progress: Progress
  readonly reason: string | null
}

/**
 * The only writer of a store: it converts pages of the log to row changes and commits each page, or part of a page with
 * large bodies, in one transaction with the position.
 */
export class Projector {
  readonly #sources: Sources
  readonly #waiters = new Waiters()
  #stored: Progress | null = null
  #opened = false
  #state: ProjectorStatus['state'] = 'idle'
  #reason: string | null = null
  #stoppedBy: unknown = null
  readonly #mutex = new Mutex()

  constructor({ log, blobs, store, reader = READER, kinds = KINDS }: ProjectorOptions) {
    this.#sources = { log, blobs, store, kinds, reader, residues: new ResidueCache({ log, blobs }) }
  }

  status(): ProjectorStatus {
    return { state: this.#state, progress: this.#progress, reason: this.#reason }
  }

  /**
   * Follows the log until the signal aborts. A fault of one stream parks that stream. Rejects with `POSITION_TAKEN`,
   * `LOG_MISMATCH`, `LOG_OLDER`, or the error of the log or the database.
   */
  async run(signal: AbortSignal): Promise<void> {
    try {
      await this.#open()
      this.#state = 'running'
      this.#reason = null
      const { log } = this.#sources
      const { cursor } = this.#progress
      for await (const page of withDamage((onDamage) => log.subscribe(cursor, signal, { onDamage }))) {
        if (await this.#mutex.run(() => this.#take(page))) continue
        await aborted(signal)
        return
      }
    } catch (error) {
      if (!signal.aborted || error !== signal.reason) throw this.#stop(error)
    }
    this.#state = 'idle'
    this.#waiters.fail(new ProjectionError('STOPPED', 'the projector was stopped'))
  }

  /**
   * Folds all current events of the log, or those up to a position, and returns the progress. Rejects with the reason of
   * the signal when that aborts; the pages before are then folded.
   */
  async catchUp(upTo?: Cursor, signal?: AbortSignal): Promise<Progress> {
    try {
      await this.#open()
      const { log } = this.#sources
      const { cursor } = this.#progress
      for await (const page of withDamage((onDamage) => log.readAll(cursor, { onDamage }))) {
        signal?.throwIfAborted()
        const wanted = upTo ? upToPosition(page, upTo.position) : page
        if (!(await this.#mutex.run(() => this.#take(wanted))) || wanted.length < page.length) break
      }
    } catch (error) {
      throw this.#stop(error)
    }
    return this.#progress
  }

  /**
   * Resolves when the tables include the event of this cursor (read your own writes). Rejects with `LOG_MISMATCH`,
   * `NEWER_WRITER` or `STOPPED` when they never will, and with `ABORTED` when the signal aborts.
   */
  async caughtUpTo(cursor: Cursor, signal?: AbortSignal): Promise<Progress> {
    if (cursor.logId !== this.#sources.log.logId) throw mismatch('the cursor is of another log')
    if (reached(this.#progress, cursor)) return this.#progress
    if (this.#state === 'waiting') throw new ProjectionError('NEWER_WRITER', this.#reason!)
    if (this.#state === 'stopped')
      throw new ProjectionError('STOPPED', `the projector has stopped: ${this.#reason}; correct that and start again`, {
        cause: this.#stoppedBy,
      })
    await this.#waiters.until(cursor.position, signal)
    return this.#progress
  }

  /**
   * Reads a parked stream again from its start. True: it is no longer parked. If the log has lost events that the tables have
   * seen, the rows and the parked state stay. Rejects with `NOT_PARKED`.
   */
  async release(stream: string): Promise<boolean> {
    await this.#open()
    return this.#mutex.run(async () => {
      const { store } = this.#sources
      const { heads, parked } = await store.statesOf([stream])
      if (!parked.has(stream)) throw new ProjectionError('NOT_PARKED', `the stream ${stream} is not parked`)
      const upTo = heads.get(stream)?.revision ?? -1
      for await (const batch of keptAgain(this.#sources, stream, upTo))
        await store.commit(this.#stored, this.#progress, batch)
      await parkedAtRefusal(upTo, async (refused) => {
        const batch = await refolded(this.#sources, stream, upTo, refused)
        if (batch !== null) await store.commit(this.#stored, this.#progress, batch)
      })
      return !(await store.statesOf([stream])).parked.has(stream)
    })
  }

  get #progress(): Progress {
    return this.#stored ?? { logId: this.#sources.log.logId, cursor: null, events: 0 }
  }

  async #open(): Promise<void> {
    if (this.#opened) return
    const stored = await this.#sources.store.progress()
    if (stored && stored.logId !== this.#sources.log.logId) throw mismatch('the tables were made from another log')
    this.#stored = stored
    this.#opened = true
  }

  /** False: the projector must wait for a newer program. */
  async #take(page: readonly LogEntry[]): Promise<boolean> {
    for (const part of partsOf(page, bodySize))
      if (!(await bisected(part, (events, refused) => this.#takePart(events, refused)))) return false
    return true
  }

  async #takePart(events: readonly LogEntry[], refused: Poison | null): Promise<boolean> {
    const { to, waitsAt, ...batch } = await foldBatch(this.#sources, this.#progress, events, refused)
    if (to.events > this.#progress.events || batch.changes.byTable.size > 0) {
      await this.#sources.store.commit(this.#stored, to, batch)
      this.#stored = to
      if (to.cursor) this.#waiters.reached(to.cursor.position)
    }
    if (!waitsAt) return true
    this.#state = 'waiting'
    this.#reason =
      `the stream ${waitsAt.header.stream} is driven by a newer program (revision ${waitsAt.header.revision}); ` +
      'start the projections of that program; these wait'
    this.#waiters.fail(new ProjectionError('NEWER_WRITER', this.#reason))
    return false
  }

  #stop(error: unknown): unknown {
    const named = error instanceof LogError && error.code === 'CURSOR_MISMATCH' ? older(this.#progress, error) : error
    this.#state = 'stopped'
    this.#stoppedBy = named
    this.#reason = named instanceof Error ? named.message : String(named)
    this.#waiters.fail(named)
    return named
  }
}

const reached = ({ cursor }: Progress, wanted: Cursor) => cursor !== null && cursor.position >= wanted.position

const mismatch = (why: string, cause?: unknown) =>
  new ProjectionError('LOG_MISMATCH', `${why} (a restored backup, or another data folder); rebuild the tables`, {
    cause,
  })

/** The usual cause is a restored log: the tables can be rebuilt, but readers of the log have lost events. */
const older = ({ cursor, events }: Progress, cause: unknown) =>
  new ProjectionError(
    'LOG_OLDER',
    `the tables show ${counted(events, 'event')} up to position ${cursor?.position}, which the log does not hold: it is older than ` +
      'they are, as after a restore, and what was recorded in it since that backup is lost; rebuild the tables of what it holds',
    { cause },
  )

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
