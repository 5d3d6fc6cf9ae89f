import { Kysely, PostgresDialect, sql } from 'kysely'
import type pg from 'pg'
import { connectionLost } from '../../../domain/log/connection-lost.ts'
import type { Cursor } from '../../../domain/log/cursor.ts'
import { ProjectionError } from '../errors.ts'
import type { Database, PositionRow } from '../schema/database.ts'
import type { Answer, Home, TableDifference } from '../store/home.ts'
import { type Progress, progressOf, type Store } from '../store/store.ts'
import { grantAuditors, makeLogin } from './audit.ts'
import { differencesOf } from './compare.ts'
import { named, stateOf } from './failures.ts'
import { Generations } from './generations.ts'
import { type Names, namesOf } from './names.ts'
import { Session } from './session.ts'
import { PostgresStore } from './store.ts'
import { HUNG_AFTER_MS, inTransaction, unlessHung } from './transaction.ts'
import { versionOf } from './version.ts'

export interface PostgresOptions {
  /** From {@link openPool}. The caller that opened the pool ends it. */
  readonly pool: pg.Pool
  /** The schema of the public views (default `keepup`). All other schemas have names that begin with it. */
  readonly schema?: string
  /** How long a writer tries to reconnect to a lost server (ms, default one minute). */
  readonly patienceMs?: number
  /** How long a writer may be idle inside a transaction before the server ends it (ms, default 5 s). */
  readonly hungAfterMs?: number
  /** Receives the reason why old tables cannot be dropped. */
  warn?(text: string): void
}

export interface ServerLook {
  readonly version: string
  readonly mayCreate: boolean
  readonly position: Cursor | null | undefined
  readonly damage: string | null
}

const SNAPSHOT = 'isolation level repeatable read, read only'
const MAX_TRIES = 3
// The tables, or their schema, were dropped after the pointer was read.
const GONE = /^(42P01|3F000)$/

/** Tables in PostgreSQL: a schema for each generation, a row that points to the live one, and views for people. */
export class PostgresHome implements Home {
  readonly #pool: pg.Pool
  readonly #names: Names
  readonly #generations: Generations
  readonly #db: Kysely<Database>
  readonly #patienceMs: number
  readonly #hungAfterMs: number
  constructor(options: PostgresOptions) {
    const { pool, schema = 'keepup', patienceMs = 60_000, hungAfterMs = HUNG_AFTER_MS, warn = () => {} } = options
    this.#pool = pool
    this.#names = namesOf(schema)
    this.#generations = new Generations(pool, this.#names, warn)
    this.#db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) })
    this.#patienceMs = patienceMs
    this.#hungAfterMs = hungAfterMs
  }

  /** Never null: missing tables are created, empty. */
  live(): Promise<string> {
    return withNamedErrors(async () => String(await this.#generations.live()))
  }

  /**
   * The state of the server, read only: its version, whether this user may create schemas, the position of the live
   * tables (`position` undefined: there are none), and a fault of the tables or their views (`damage` null: none).
   */
  look(): Promise<ServerLook> {
    return withNamedErrors(async () => {
      const asked = `select current_setting('server_version') as version,
        has_database_privilege(current_database(), 'create') as may`
      const { version, may: mayCreate } = (await this.#pool.query<{ version: string; may: boolean }>(asked)).rows[0]!
      const there = await this.#generations.look()
      if (there === null) return { version, mayCreate, position: undefined, damage: null }
      const { damage } = there
      const position = await this.read(async () => null).then(
        (answer) => answer.position,
        (error) => {
          if (damage === null) throw error
          return null
        },
      )
      return { version, mayCreate, position, damage }
    })
  }

  async open(name: string): Promise<Store> {
    const n = Number(name)
    await withNamedErrors(() => this.#generations.migrate(n))
    return new PostgresStore(this.#session(n))
  }

  logId(): Promise<string | null> {
    return withNamedErrors(() => this.#generations.logId())
  }

  async fresh(): Promise<{ name: string; store: Store }> {
    const sessions: Session[] = []
    const keep = async (n: number) => {
      sessions.push(this.#session(n))
      await sessions[0]!.try(async () => {})
    }
    try {
      const n = await withNamedErrors(() => this.#generations.fresh(keep))
      return { name: String(n), store: new PostgresStore(sessions[0]!) }
    } catch (error) {
      await sessions[0]?.close()
      throw error
    }
  }

  compare(live: string, rebuilt: string, catchUp: (to: Cursor) => Promise<unknown>): Promise<TableDifference[] | null> {
    const [a, b] = [Number(live), Number(rebuilt)]
    const seen = (n: number, work: (client: pg.PoolClient) => Promise<TableDifference[] | null>) =>
      inTransaction(
        this.#pool,
        async (client) => {
          await client.query(`set local search_path to ${this.#names.tables(n)}`)
          return work(client)
        },
        SNAPSHOT,
      )
    const compared = withNamedErrors(async () => {
      const near = await inTransaction(this.#pool, (client) => this.#comparable(client, a, b), SNAPSHOT)
      if (near === null) return null
      // Catch up most of the way before opening the compared snapshot.
      await catchUp(near)
      return seen(a, async (ours) => {
        const at = await this.#comparable(ours, a, b)
        if (at === null) return null
        await catchUp(at)
        return seen(b, (theirs) => differencesOf(ours, theirs))
      })
    })
    return compared.catch((error) => {
      // Altered tables are not compared.
      if (error instanceof ProjectionError && error.code === 'SCHEMA_OTHER') return null
      throw error
    })
  }

  pointTo(name: string, atLeast: Progress | null, takeOver = false): Promise<boolean> {
    return withNamedErrors(() => this.#generations.pointTo(Number(name), atLeast, takeOver))
  }

  async drop(name: string): Promise<void> {
    await withNamedErrors(() => this.#generations.drop(Number(name)))
  }

  /** Tables that are in use, or cannot be dropped now, are dropped the next time. */
  async dropOthers(): Promise<void> {
    try {
      for (const n of await this.#generations.others()) await this.#generations.drop(n)
    } catch (error) {
      // A process that ends leaves them to the next one.
      if (connectionLost(error) || this.#pool.ending) return
      const why = error instanceof Error ? error.message : String(error)
      const text = `tables from before a rebuild cannot be dropped now (${why}); the next cleanup tries again`
      this.#generations.warn(text, null)
    }
  }

  async read<T>(query: (db: Kysely<Database>) => Promise<T>): Promise<Answer<T>> {
    for (let tries = 0; ; tries++) {
      try {
        return await this.#read(query)
      } catch (error) {
        // A pool notices connections broken by a restart only when it uses them.
        if (tries === MAX_TRIES || !(connectionLost(error) || GONE.test(stateOf(error)))) throw named(error)
      }
    }
  }

  /** Lets a role read the live views, now and after every rebuild; see {@link grantAuditors}. */
  async grantAuditors(role = `${this.#names.views}_auditor`): Promise<{ role: string; made: boolean }> {
    return { role, made: await withNamedErrors(() => grantAuditors(this.#pool, this.#names, role)) }
  }

  /** Creates a login in a role of {@link grantAuditors}, and returns its password; see {@link makeLogin}. */
  makeLogin(role: string, login: string): Promise<string> {
    return withNamedErrors(() => makeLogin(this.#pool, role, login))
  }

  /** No effect: the caller owns the pool. */
  async close(): Promise<void> {}

  #read<T>(query: (db: Kysely<Database>) => Promise<T>): Promise<Answer<T>> {
    const transaction = this.#db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only')
    return transaction.execute(async (db) => {
      const live = sql.raw<{ path: string }>(
        `select set_config('search_path', '${this.#names.views}_' || n, true) as path from ${this.#names.control}.live`,
      )
      const pointed = await live.execute(db).catch((error) => {
        throw GONE.test(stateOf(error)) ? missing() : error
      })
      if (pointed.rows.length === 0) throw missing()
      const row = await db.selectFrom('position').selectAll().executeTakeFirst()
      return { position: row ? progressOf(row).cursor : null, data: await query(db) }
    })
  }

  #session(n: number): Session {
    const { tables, writers } = this.#names
    const begin = async (client: pg.PoolClient) => {
      await client.query(`set search_path to ${tables(n)}; set ${unlessHung(this.#hungAfterMs)}`)
      await client.query(`select pg_advisory_lock_shared(${writers(n)})`)
    }
    return new Session(this.#pool, { patienceMs: this.#patienceMs, begin })
  }

  /** The position of the live tables; null when the two generations cannot be compared. */
  async #comparable(client: pg.PoolClient, live: number, rebuilt: number): Promise<Cursor | null> {
    const [a, b] = [await versionOf(client, this.#names, live), await versionOf(client, this.#names, rebuilt)]
    if (a === null || b === null || a.meaning !== b.meaning || a.version !== b.version) return null
    const { rows } = await client.query<PositionRow>(`select * from ${this.#names.tables(live)}.position`)
    return rows[0] ? progressOf(rows[0]).cursor : null
  }
}

const missing = () =>
  new ProjectionError('NOT_FOUND', 'there are no tables yet; the process that moves them makes them from the log')

async function withNamedErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw named(error)
  }
}
