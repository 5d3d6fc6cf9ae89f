import type { SQLInputValue } from 'node:sqlite'
import type { Collapsed } from '../changes/collapse.ts'
import { ProjectionError } from '../errors.ts'
import type { PositionRow, StreamRow } from '../schema/database.ts'
import { MEANING, migrations } from '../schema/migrations.ts'
import type { Row } from '../schema/tables.ts'
import { damagedOr } from './damage.ts'
import { type Connection, connect } from './database.ts'
import { Statements } from './statements.ts'
import { type Progress, positionTaken, type Store } from './store.ts'

/**
 * The writing side of a projections file; made and migrated where needed. Rejects with `SCHEMA_NEWER` or `SCHEMA_OTHER`
 * where its rows are not this program's, with `DAMAGED` where they cannot be read.
 */
export async function openSqliteStore(path: string): Promise<Store> {
  let connection: Connection | null = null
  try {
    connection = connect(path, 'write')
    await migrate(connection, path)
    return new SqliteStore(connection)
  } catch (error) {
    connection?.close()
    throw damagedOr(error)
  }
}

// user_version = meaning * 1000 + schema version, so that one pragma tells both.
async function migrate({ raw, db }: Connection, path: string): Promise<void> {
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
    for (const step of migrations.slice(version)) await step(db)
    raw.exec(`pragma user_version = ${MEANING * 1000 + migrations.length}`)
    raw.exec('commit')
  } catch (error) {
    // A full disk has ended it already.
    if (raw.isTransaction) raw.exec('rollback')
    throw error
  }
}

class SqliteStore implements Store {
  readonly #connection: Connection
  readonly #statements: Statements
  constructor(connection: Connection) {
    this.#connection = connection
    this.#statements = new Statements(connection.db)
  }

  get db() {
    return this.#connection.db
  }

  async progress(): Promise<Progress | null> {
    return this.#progress()
  }

  async stream(name: string): Promise<StreamRow | null> {
    return this.#one<StreamRow>('select stream, revision, hash from streams where stream = ?', name)
  }

  async parked(agentId: string): Promise<Row<'parked'> | null> {
    return this.#one<Row<'parked'>>('select * from parked where agent_id = ?', agentId)
  }

  async erasureSeen(agentId: string, revision: number): Promise<boolean> {
    const text = 'select 1 as yes from erasures where agent_id = ? and revision = ? and seen = 1'
    return this.#one(text, agentId, revision) !== null
  }

  async commit(from: Progress | null, to: Progress, streams: readonly StreamRow[], changes: Collapsed): Promise<void> {
    const { raw } = this.#connection
    raw.exec('begin immediate')
    try {
      this.#move(from, to)
      const stream = this.#connection.prepare(
        'insert into streams (stream, revision, hash) values (?, ?, ?)' +
          ' on conflict (stream) do update set revision = excluded.revision, hash = excluded.hash',
      )
      for (const row of streams) stream.run(row.stream, row.revision, row.hash)
      this.#apply(changes)
      raw.exec('commit')
    } catch (error) {
      if (raw.isTransaction) raw.exec('rollback')
      throw error
    }
  }

  async close(): Promise<void> {
    this.#connection.close()
  }

  #move(from: Progress | null, to: Progress): void {
    const next = [to.logId, to.cursor?.position ?? -1, to.cursor?.prepare ?? null, to.cursor?.hash ?? '', to.events]
    const moved = from
      ? this.#connection
          .prepare(
            'update position set log_id = ?, position = ?, prepare = ?, hash = ?, events = ?' +
              ' where id = 1 and log_id = ? and position = ? and hash = ?',
          )
          .run(...next, from.logId, from.cursor?.position ?? -1, from.cursor?.hash ?? '')
      : this.#connection
          .prepare(
            'insert into position (id, log_id, position, prepare, hash, events) values (1, ?, ?, ?, ?, ?)' +
              ' on conflict (id) do nothing',
          )
          .run(...next)
    if (moved.changes === 0) throw positionTaken(this.#progress())
  }

  #apply(changes: Collapsed): void {
    for (const [table, agents] of changes.byTable) {
      for (const [agent, { cleared, rows }] of agents) {
        if (cleared) this.#connection.prepare(this.#statements.clear(table)).run(agent)
        for (const { key, ops } of rows.values()) {
          for (const op of ops) {
            const made = this.#statements.row(table, key, op)
            if (made) this.#connection.prepare(made.text).run(...(made.values as SQLInputValue[]))
          }
        }
      }
    }
  }

  #progress(): Progress | null {
    const row = this.#one<PositionRow>('select * from position where id = 1')
    return row && progressOf(row)
  }

  #one<R>(text: string, ...values: SQLInputValue[]): R | null {
    return (this.#connection.prepare(text).get(...values) as R | undefined) ?? null
  }
}

/** The stored position as progress. */
export function progressOf(row: PositionRow): Progress {
  const { log_id: logId, position, prepare, hash, events } = row
  if (position < 0) return { logId, cursor: null, events }
  return { logId, cursor: { logId, position, ...(prepare === null ? {} : { prepare }), hash }, events }
}
