import type { PositionRow, StreamRow } from '../schema/database.ts'
import {
  type Batch,
  type Progress,
  positionTaken,
  progressOf,
  rowOf,
  rowsRefused,
  type Store,
  type StreamStates,
} from '../store/store.ts'
import { texts } from './arrays.ts'
import { stateOf } from './failures.ts'
import type { Session } from './session.ts'
import { statementsOf } from './statements.ts'

/** The writing side of one generation of tables. The session's search path selects the generation. */
export class PostgresStore implements Store {
  readonly keepsEvents = true
  readonly #session: Session
  constructor(session: Session) {
    this.#session = session
  }

  progress(): Promise<Progress | null> {
    return this.#session.try(() => this.#progress())
  }

  statesOf(streams: readonly string[]): Promise<StreamStates> {
    return this.#session.try(async () => {
      const { rows } = await this.#session.query<StreamRow & { parked: boolean }>(STATES, [texts(streams)])
      const heads = rows.filter((row) => !row.parked).map(({ parked: _, ...row }) => row)
      const parked = rows.flatMap((row) => (row.parked ? row.stream : []))
      return { heads: new Map(heads.map((row) => [row.stream, row])), parked: new Set(parked) }
    })
  }

  async erasureSeen(stream: string, revision: number): Promise<boolean> {
    const text = 'select from erasures where stream = $1 and revision = $2 and seen = 1'
    return this.#session.try(async () => (await this.#session.query(text, [stream, revision])).rowCount === 1)
  }

  async commit(from: Progress | null, to: Progress, batch: Batch): Promise<void> {
    const statements = statementsOf(batch)
    let tries = 0
    const written = this.#session.transaction(async () => {
      // The connection may have been lost after the server committed; then nothing is left to do.
      if (tries++ > 0 && !same(from, to) && same(await this.#progress(), to)) return
      await this.#move(from, to)
      for (const { text, values } of statements) await this.#session.query(text, values)
    })
    await written.catch((error: unknown) => {
      throw REFUSED.test(stateOf(error)) ? rowsRefused('PostgreSQL', error) : error
    })
  }

  close(): Promise<void> {
    return this.#session.close()
  }

  async #move(from: Progress | null, to: Progress): Promise<void> {
    const next = Object.values(rowOf(to))
    const { rowCount } = from
      ? await this.#session.query(MOVE, [...next, ...placeOf(from)])
      : await this.#session.query(BEGIN, next)
    if (rowCount === 0) throw positionTaken(await this.#progress())
  }

  async #progress(): Promise<Progress | null> {
    const { rows } = await this.#session.query<PositionRow>('select * from position where id = 1')
    return rows[0] ? progressOf(rows[0]) : null
  }
}

// SQLSTATE classes that the content of the rows causes: data errors, and program limits.
const REFUSED = /^(22|54)/

const STATES = `select stream, run_id, revision, hash, false as parked from streams where stream = any($1::text[])
  union all select stream, null, 0, '', true from parked where stream = any($1::text[])`

// The second of two writers waits for the first one's transaction, and then finds no row to change.
const BEGIN = `insert into position (id, log_id, position, prepare, hash, events) values (1, $1, $2, $3, $4, $5)
  on conflict (id) do nothing`
const MOVE = `update position set log_id = $1, position = $2, prepare = $3, hash = $4, events = $5
  where id = 1 and log_id = $6 and position = $7 and hash = $8`

const placeOf = (progress: Progress) => {
  const { log_id, position, hash } = rowOf(progress)
  return [log_id, position, hash]
}

const same = (stored: Progress | null, to: Progress) =>
  stored !== null && JSON.stringify(rowOf(stored)) === JSON.stringify(rowOf(to))
