import type { DatabaseSync } from 'node:sqlite'
import { checkChain, checkNext } from '../../../domain/log/chain.ts'
import { erasuresOf, noSuchBody } from '../../../domain/log/erased.ts'
import { ConflictError, LogError } from '../../../domain/log/errors.ts'
import { GENESIS, isSealedBody } from '../../../domain/log/seal.ts'
import { packBody } from './body.ts'
import { sqliteCode, toLogError } from './errors.ts'
import { Interned, type StreamHead } from './interned.ts'
import { type BatchOutcome, type Job, toFailure } from './protocol.ts'
import { EVENT_COLUMNS, toRow } from './row.ts'
import { DiskUsage } from './usage.ts'

const IOERR = 10

/** Thrown when the state of the disk is unknown. The writer must end, and the next one recovers the file. */
export class WriterLost extends Error {}

/**
 * The only writer of a SQLite log. It commits all waiting batches in one transaction. Checks every batch before it
 * writes a row of it, so that a conflict affects no other batch. Synchronous; runs in a thread.
 */
export class LogWriter {
  readonly #db: DatabaseSync
  readonly #folder: string
  readonly #names: Interned
  readonly #usage: DiskUsage
  readonly #sql
  /** Position, time (ms) and hash of the log's last event. */
  #last: { position: number; at: number; hash: string }

  constructor(db: DatabaseSync, folder: string) {
    this.#db = db
    this.#folder = folder
    this.#names = new Interned(db)
    this.#usage = new DiskUsage(db)
    this.#sql = {
      begin: db.prepare('BEGIN IMMEDIATE'),
      commit: db.prepare('COMMIT'),
      rollback: db.prepare('ROLLBACK'),
      event: db.prepare(`INSERT INTO events(${EVENT_COLUMNS}) VALUES (${EVENT_COLUMNS.map(() => '?')})`),
      body: db.prepare('INSERT INTO bodies(position, packed, bytes) VALUES (?, ?, ?)'),
      erase: db.prepare('INSERT INTO erasures(position, fact) VALUES (?, ?)'),
      erased: db.prepare('SELECT 1 FROM erasures WHERE position = ?'),
      stored: db.prepare(
        'SELECT position, lower(hex(substr(proof, 1, 32))) AS hash, lower(hex(substr(proof, 33, 32))) AS body FROM events ' +
          'WHERE stream = ? AND revision BETWEEN ? AND ? ORDER BY revision',
      ),
      last: db.prepare(
        'SELECT position, at, lower(hex(substr(proof, 1, 32))) AS hash FROM events ORDER BY position DESC LIMIT 1',
      ),
    }
    this.#last = this.#readLast()
  }

  /** The time of the log's last event, in ms. */
  get time(): number {
    return this.#last.at
  }

  /** The log's last event. Position 0: the log is empty. */
  get last(): { readonly position: number; readonly hash: string } {
    return this.#last
  }

  /**
   * Writes the batches in their order in one transaction, durable on return. If that fails, for example on a full disk,
   * tries each batch alone, so that each has a separate outcome. Throws {@link WriterLost}.
   */
  commit(jobs: readonly Job[]): BatchOutcome[] {
    try {
      return this.#transaction(jobs)
    } catch (error) {
      this.#names.forget()
      this.#usage.forget()
      const failed = toLogError(error, 'append to', this.#folder)
      if (failed.code !== 'LOG_FULL' && (sqliteCode(error) & 0xff) === IOERR)
        throw new WriterLost(failed.message, { cause: error })
      if (this.#db.isTransaction) this.#sql.rollback.run()
      this.#last = this.#readLast()
      if (jobs.length > 1) return jobs.flatMap((job) => this.commit([job]))
      return jobs.map(({ id }) => ({ id, failure: toFailure(failed) }))
    }
  }

  #transaction(jobs: readonly Job[]): BatchOutcome[] {
    const before = this.#last.position
    this.#sql.begin.run()
    const outcomes = jobs.map((job) => {
      try {
        return { id: job.id, position: this.#append(job) }
      } catch (error) {
        if (!(error instanceof LogError)) throw error
        return { id: job.id, failure: toFailure(error) }
      }
    })
    if (this.#last.position > before) {
      this.#usage.roll(this.#last.position)
      this.#sql.commit.run()
    } else this.#sql.rollback.run()
    return outcomes
  }

  #append(job: Job): number {
    const { stream, expected, batch, after } = job
    if (after === undefined)
      for (const { header, body } of batch)
        if (body && !isSealedBody(header.body, body))
          throw invalid(`the body of revision ${header.revision} of ${stream} is not the one that its header hashes`)
    const head = this.#names.head(stream)
    if (expected > head.revision) throw new ConflictError(stream, expected, head.revision)
    if (expected < head.revision) return this.#resent(job, head)
    checkNext(head.hash === null ? null : { hash: head.hash, timestamp: new Date(head.at).toISOString() }, batch, after)
    const time = Date.parse(batch[0]!.header.timestamp)
    if (time < this.#last.at)
      throw new ConflictError(
        stream,
        expected,
        head.revision,
        `the log has moved on past the time of a batch for ${stream}; nothing was written, seal it again with a later time`,
      )
    const erasures = this.#erasures(job, head)
    // No LogError is thrown from here on, so the following writes are complete or rolled back with the transaction.
    for (const [position, fact] of erasures) {
      this.#usage.emptied(position)
      this.#sql.erase.run(position, fact)
    }
    this.#write(job, head)
    return this.#last.position
  }

  /**
   * An append below the head succeeds if and only if its events are already stored there. Comparing hashes is enough: a
   * hash commits to the header and, through the header, to the body. `checkChain` proves that the batch has the hashes
   * that it claims.
   */
  #resent({ stream, expected, batch }: Job, head: StreamHead): number {
    const stored = this.#sql.stored.all(head.id, expected, expected + batch.length)
    const previous = expected === -1 ? GENESIS : String(stored.shift()?.hash)
    if (batch.some((event, index) => event.hash !== stored[index]?.hash))
      throw new ConflictError(stream, expected, head.revision)
    checkChain(previous, batch)
    return Number(stored[batch.length - 1]!.position)
  }

  /** Positions to empty, each with the future position of its fact. */
  #erasures({ stream, batch }: Job, head: StreamHead): [position: number, fact: number][] {
    return erasuresOf(batch).flatMap(({ revision, bodyHash, fact }) => {
      const stored = head.id === null ? undefined : this.#sql.stored.get(head.id, revision, revision)
      if (stored?.body !== bodyHash) throw noSuchBody(stream, revision)
      const position = Number(stored.position)
      const again = this.#sql.erased.get(position) !== undefined
      return again ? [] : [[position, this.#last.position + 1 + fact] as [number, number]]
    })
  }

  #write({ stream, batch }: Job, head: StreamHead): void {
    const streamId = this.#names.stream(stream, head)
    let { position } = this.#last
    for (const event of batch) {
      position += 1
      const kind = this.#names.kind(event.header)
      const origin = this.#names.origin(event.header, streamId, head)
      this.#sql.event.run(...toRow(event, position, streamId, kind, origin))
      if (event.body) {
        const { packed, bytes } = packBody(event.body)
        this.#sql.body.run(position, packed, bytes)
      }
    }
    const last = batch[batch.length - 1]!
    head.revision = last.header.revision
    head.hash = last.hash
    head.at = Date.parse(last.header.timestamp)
    this.#last = { position, at: head.at, hash: last.hash }
  }

  #readLast(): { position: number; at: number; hash: string } {
    const row = this.#sql.last.get()
    const at = Number(row?.at ?? Number.MIN_SAFE_INTEGER)
    return { position: Number(row?.position ?? 0), at, hash: String(row?.hash ?? '') }
  }
}

const invalid = (message: string) => new LogError('APPEND_INVALID', message)
