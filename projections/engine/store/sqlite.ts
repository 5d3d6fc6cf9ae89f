import { statSync } from 'node:fs'
import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { Collapsed } from '../changes/collapse.ts'
import { ProjectionError } from '../errors.ts'
import type { EventRow, PositionRow, StreamRow } from '../schema/database.ts'
import { sqlite } from '../schema/dialect.ts'
import { eventRows } from '../schema/event-rows.ts'
import { createEventRows, MEANING, migrations, TABLES_VERSION } from '../schema/migrations.ts'
import { damagedOr, isTooBig } from './damage.ts'
import { BUSY_MS, type Connection, connectSqlite } from './database.ts'
import { Statements } from './statements.ts'
import {
  type Batch,
  type Progress,
  positionTaken,
  progressOf,
  rowOf,
  rowsRefused,
  type Store,
  type StreamStates,
} from './store.ts'
import { syncPath } from './sync.ts'

/**
 * Opens a projections file for writing; creates and migrates it if needed. Rejects with `SCHEMA_NEWER` or
 * `SCHEMA_OTHER` when the rows have another meaning or version, and with `DAMAGED` when they are unreadable. `keepsEvents`:
 * the file also gets the events, because SQL cannot read their log.
 */
export async function openSqliteStore(path: string, { keepsEvents = false } = {}): Promise<SqliteStore> {
  let connection: Connection | null = null
  try {
    connection = connectSqlite(path, 'write')
    await migrate(connection, path)
    if (keepsEvents) await createEventRows(connection.db)
    return new SqliteStore(connection, keepsEvents)
  } catch (error) {
    connection?.close()
    throw damagedOr(error)
  }
}

// user_version = meaning * 1000 + schema version, so one pragma stores both.
/** Brings the tables of a connection to the present schema. `path`: for errors. Rejects as {@link openSqliteStore}. */
export async function migrate({ raw, db }: Connection, path: string): Promise<void> {
  raw.exec('begin immediate')
  try {
    const stored = Number(raw.prepare('pragma user_version').get()!.user_version)
    const [meaning, version] = stored === 0 ? [MEANING, 0] : [Math.floor(stored / 1000), stored % 1000]
    if (meaning > MEANING || version > migrations.length) {
      throw new ProjectionError(
        'SCHEMA_NEWER',
        `${path} was written by a newer program; use that, or delete its folder: the tables come back from the log`,
      )
    }
    if (meaning < MEANING) {
      throw new ProjectionError('SCHEMA_OTHER', `the rows in ${path} have an older meaning; rebuild them from the log`)
    }
    for (const step of migrations.slice(version)) await step(db, sqlite)
    raw.exec(`pragma user_version = ${TABLES_VERSION}`)
    raw.exec('commit')
  } catch (error) {
    // A full disk has already ended the transaction.
    if (raw.isTransaction) raw.exec('rollback')
    throw error
  }
}

export class SqliteStore implements Store {
  readonly keepsEvents: boolean
  readonly #connection: Connection
  readonly #statements: Statements
  /** True: the write-ahead log may contain pages of erased rows. */
  #stale: boolean
  constructor(connection: Connection, keepsEvents = false) {
    this.keepsEvents = keepsEvents
    this.#connection = connection
    this.#statements = new Statements(connection.db)
    // A process that was killed during an erasure left the erased rows in the write-ahead log.
    const file = connection.raw.location()
    this.#stale = file !== null && (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0
  }

  get db() {
    return this.#connection.db
  }

  async progress(): Promise<Progress | null> {
    return this.#progress()
  }

  async statesOf(streams: readonly string[]): Promise<StreamStates> {
    const heads = new Map<string, StreamRow>()
    const parked = new Set<string>()
    for (const stream of streams) {
      const head = this.#one<StreamRow>('select stream, run_id, revision, hash from streams where stream = ?', stream)
      if (head) heads.set(stream, head)
      if (this.#one('select stream from parked where stream = ?', stream)) parked.add(stream)
    }
    return { heads, parked }
  }

  async erasureSeen(stream: string, revision: number): Promise<boolean> {
    const text = 'select 1 as yes from erasures where stream = ? and revision = ? and seen = 1'
    return this.#one(text, stream, revision) !== null
  }

  async commit(from: Progress | null, to: Progress, batch: Batch): Promise<void> {
    const { streams, changes } = batch
    const { raw } = this.#connection
    raw.exec('begin immediate')
    try {
      this.#move(from, to)
      const stream = this.#connection.prepare(
        'insert into streams (stream, run_id, revision, hash) values (?, ?, ?, ?) on conflict (stream)' +
          ' do update set run_id = excluded.run_id, revision = excluded.revision, hash = excluded.hash',
      )
      for (const row of streams) stream.run(row.stream, row.run_id, row.revision, row.hash)
      this.#apply(changes)
      this.#keep(batch)
      raw.exec('commit')
    } catch (error) {
      if (raw.isTransaction) raw.exec('rollback')
      throw isTooBig(error) ? rowsRefused('SQLite', error) : error
    }
    this.#stale ||= cleared(changes)
    if (this.#stale) this.#stale = !emptyWal(raw)
  }

  async close(): Promise<void> {
    this.#connection.close()
  }

  #move(from: Progress | null, to: Progress): void {
    const next = Object.values(rowOf(to))
    const moved = from
      ? this.#connection.prepare(MOVE).run(...next, ...placeOf(from))
      : this.#connection.prepare(BEGIN).run(...next)
    if (moved.changes === 0) throw positionTaken(this.#progress())
  }

  #apply(changes: Collapsed): void {
    for (const [table, owners] of changes.byTable) {
      for (const [owner, { cleared, rows }] of owners) {
        if (cleared) this.#connection.prepare(this.#statements.clear(table)).run(owner)
        for (const { key, ops } of rows.values()) {
          for (const op of ops) {
            const made = this.#statements.row(table, key, op)
            if (made) this.#connection.prepare(made.text).run(...(made.values as SQLInputValue[]))
          }
        }
      }
    }
  }

  #keep({ events, erased, residues }: Batch): void {
    const { prepare } = this.#connection
    for (const event of events) prepare(KEEP).run(...KEPT.map((name) => event[name]))
    for (const { stream, revision } of erased) prepare(FORGET).run(stream, revision)
    for (const { stream, revision, current } of residues) prepare(RESIDUE).run(current, stream, revision)
  }

  #progress(): Progress | null {
    const row = this.#one<PositionRow>('select * from position where id = 1')
    return row && progressOf(row)
  }

  #one<R>(text: string, ...values: SQLInputValue[]): R | null {
    return (this.#connection.prepare(text).get(...values) as R | undefined) ?? null
  }
}

/** Whether a stream's rows are rebuilt because they contained a body that is now erased. */
const cleared = ({ byTable }: Collapsed): boolean =>
  byTable.values().some((owners) => owners.values().some((rows) => rows.cleared))

/**
 * Empties the write-ahead log durably: SQLite does not sync the truncation, and a power cut would bring the erased bytes
 * back. False: a reader uses it. No wait, because the reader may run in this thread.
 */
function emptyWal(raw: DatabaseSync): boolean {
  raw.exec('pragma busy_timeout = 0')
  try {
    if (raw.prepare('pragma wal_checkpoint(truncate)').get()?.busy !== 0) return false
    const file = raw.location()
    if (file !== null) syncPath(`${file}-wal`, 'r+')
    return true
  } finally {
    raw.exec(`pragma busy_timeout = ${BUSY_MS}`)
  }
}

const BEGIN =
  'insert into position (id, log_id, position, prepare, hash, events) values (1, ?, ?, ?, ?, ?) on conflict (id) do nothing'
const MOVE =
  'update position set log_id = ?, position = ?, prepare = ?, hash = ?, events = ?' +
  ' where id = 1 and log_id = ? and position = ? and hash = ?'

const KEPT = Object.keys(eventRows.columns) as (keyof EventRow)[]
const KEEP = `insert or replace into event_rows (${KEPT}) values (${KEPT.map(() => '?')})`
const FORGET = 'update event_rows set payload = null, current = null where stream = ? and revision = ?'
// A residue replaces the payload: the log may have emptied the body before its `erased` event is folded.
const RESIDUE = 'update event_rows set payload = null, current = ? where stream = ? and revision = ?'

const placeOf = (progress: Progress) => {
  const { log_id, position, hash } = rowOf(progress)
  return [log_id, position, hash]
}
