import type pg from 'pg'
import { ProjectionError } from '../../errors.ts'
import { postgres } from '../../schema/dialect.ts'
import { MEANING, migrations } from '../../schema/migrations.ts'
import { type Progress, rowOf } from '../store.ts'
import { createViews } from './audit.ts'
import { dropGeneration, standsInTheWay, takeAlong } from './dependents.ts'
import { schemaTaken, stateOf } from './failures.ts'
import type { Names } from './names.ts'
import { damageOf } from './shape.ts'
import { inTransaction, kyselyOver } from './transaction.ts'

// Generations of tables side by side, a schema each, and the row that points to the live one. Whoever changes any of this
// does it in one transaction that holds one lock, so that processes which start together do it one after the other.

const NOT_NOW = '55P03'

export class Generations {
  readonly #pool: pg.Pool
  readonly #names: Names
  readonly #warn: (text: string) => void
  #said = ''
  constructor(pool: pg.Pool, names: Names, warn: (text: string) => void) {
    this.#pool = pool
    this.#names = names
    this.#warn = warn
  }

  /** The live generation; the first is made where there is none. Rejects with `SCHEMA_NEWER`. */
  async live(): Promise<number> {
    return this.#alone(async (client) => {
      const found = await this.#pointer(client)
      if (found !== null) {
        const stored = await versionOf(client, this.#names, found)
        if (stored !== null) mustNotBeNewer(stored, this.#names.tables(found))
        return found
      }
      const first = await this.#create(client)
      await this.#point(client, null, first)
      return first
    })
  }

  /** Whether there is a live generation; makes none. Rejects with `SCHEMA_NEWER`, and with `REFUSED` where none can be made. */
  async look(): Promise<boolean> {
    const { control, tables, views } = this.#names
    return inTransaction(
      this.#pool,
      async (client) => {
        const found = (await exists(client, `${control}.live`)) ? await this.#pointer(client) : null
        if (found !== null) {
          const stored = await versionOf(client, this.#names, found)
          if (stored !== null) mustNotBeNewer(stored, tables(found))
          return true
        }
        const { rowCount } = await client.query('select where to_regnamespace($1) is not null', [views])
        if (rowCount !== 0) throw schemaTaken(`schema "${views}" already exists`)
        return false
      },
      'read only',
    )
  }

  fresh(): Promise<number> {
    return this.#alone((client) => this.#create(client))
  }

  /** Brings a generation's tables up to this program's version. Rejects with `SCHEMA_NEWER` or `SCHEMA_OTHER`. */
  async migrate(n: number): Promise<void> {
    const schema = this.#names.tables(n)
    await this.#alone(async (client) => {
      const stored = await versionOf(client, this.#names, n)
      if (stored === null || stored.meaning < MEANING) {
        throw new ProjectionError(
          'SCHEMA_OTHER',
          `the rows in ${schema} have an older meaning; rebuild them from the log`,
        )
      }
      mustNotBeNewer(stored, schema)
      if (stored.version < migrations.length) await this.#step(client, n, stored.version)
      const damage = await damageOf(client, schema)
      if (damage !== null) {
        throw new ProjectionError(
          'SCHEMA_OTHER',
          `${schema}.${damage}, which this program did not do; rebuild the tables from the log`,
        )
      }
    })
  }

  /** Points to a generation, unless the present one shows more than `atLeast`. Its writers find their position gone. */
  async pointTo(n: number, atLeast: Progress | null): Promise<boolean> {
    // Who asks next should not ask tables that the planner takes for empty.
    const { rows: made } = await this.#pool.query<{ name: string }>(TABLES_OF, [this.#names.tables(n)])
    await this.#pool.query(`analyze ${made.map(({ name }) => name).join(', ')}`)
    return this.#alone(async (client) => {
      const old = await this.#pointer(client)
      if (old === n) return true
      const position = `${this.#names.tables(old ?? n)}.position`
      const there = old !== null && (await exists(client, position))
      if (there && atLeast !== null) {
        const { log_id, position: shown } = rowOf(atLeast)
        const ahead = `select from ${position} where log_id = $1 and position > $2 for update`
        if ((await client.query(ahead, [log_id, shown])).rowCount) return false
      }
      if (there) await client.query(`delete from ${position}`)
      await this.#point(client, old, n)
      return true
    })
  }

  /** Drops a generation. False, at once, where somebody reads or writes it, or has built on it, which is told. */
  async drop(n: number): Promise<boolean> {
    try {
      await this.#alone(async (client) => {
        const live = await this.#pointer(client)
        if (live !== null && live !== n) await takeAlong(client, this.#names, n, live)
      })
      return await this.#alone((client) => this.#drop(client, n))
    } catch (error) {
      const dependents = standsInTheWay(error)
      if (dependents !== null) this.#stays(n, dependents)
      if (dependents !== null || stateOf(error) === NOT_NOW) return false
      throw error
    }
  }

  /** Generations before the live one. */
  async old(): Promise<number[]> {
    const { control } = this.#names
    const text = `select n from ${control}.generations where n < (select n from ${control}.live) order by n`
    return (await this.#pool.query<{ n: number }>(text)).rows.map(({ n }) => n)
  }

  async #drop(client: pg.PoolClient, n: number): Promise<boolean> {
    const { tables, control, writers } = this.#names
    if ((await this.#pointer(client)) === n) return false
    const { rows } = await client.query<{ free: boolean }>(`select pg_try_advisory_xact_lock(${writers(n)}) as free`)
    if (!rows[0]!.free) return false
    // Nobody is to wait behind this: neither for the locks that it holds, nor for those that it would wait for.
    await client.query(`set local lock_timeout = '100ms'`)
    const held = await client.query<{ name: string }>(TABLES_OF, [tables(n)])
    if (held.rows.length > 0) {
      await client.query(`lock table ${held.rows.map(({ name }) => name).join(', ')} in access exclusive mode nowait`)
    }
    await dropGeneration(client, this.#names, n)
    await client.query(`delete from ${control}.generations where n = $1`, [n])
    return true
  }

  /** Once, where it is the same again. */
  #stays(n: number, dependents: string): void {
    const text =
      `tables of before a rebuild stay (${this.#names.tables(n)}), because something stands on them that does not fit the ` +
      `new ones: ${dependents.replaceAll('\n', '; ')}. Drop that and make it anew on the views in ${this.#names.views}; they go then.`
    if (text !== this.#said) this.#warn(text)
    this.#said = text
  }

  async #alone<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const { lock, control } = this.#names
    return inTransaction(this.#pool, async (client) => {
      await client.query(`select pg_advisory_xact_lock(${lock})`)
      if (!(await exists(client, `${control}.live`))) await client.query(controlSql(control))
      return work(client)
    })
  }

  async #pointer(client: pg.PoolClient): Promise<number | null> {
    return (await client.query<{ n: number }>(`select n from ${this.#names.control}.live`)).rows[0]?.n ?? null
  }

  async #create(client: pg.PoolClient): Promise<number> {
    const { control, tables } = this.#names
    const next = `insert into ${control}.generations (n, meaning, version)
      select coalesce(max(n), 0) + 1, ${MEANING}, 0 from ${control}.generations returning n`
    const { n } = (await client.query<{ n: number }>(next)).rows[0]!
    await client.query(`create schema ${tables(n)}`)
    await this.#step(client, n, 0)
    return n
  }

  async #step(client: pg.PoolClient, n: number, from: number): Promise<void> {
    const { control, tables } = this.#names
    await client.query(`set local search_path to ${tables(n)}`)
    for (const step of migrations.slice(from)) await step(kyselyOver(client), postgres)
    await client.query(`update ${control}.generations set version = $1 where n = $2`, [migrations.length, n])
  }

  // Schemas are renamed, not views replaced: that takes no lock on any table or view, so it waits for no reader. Only views
  // that somebody has built on are replaced, and only where nobody reads them.
  async #point(client: pg.PoolClient, old: number | null, n: number): Promise<void> {
    const { control, published, asideViews } = this.#names
    await createViews(client, this.#names, n)
    if (old !== null) await client.query(`alter schema ${published} rename to ${asideViews(old)}`)
    await client.query(`alter schema ${asideViews(n)} rename to ${published}`)
    const point = `insert into ${control}.live (id, n) values (1, $1) on conflict (id) do update set n = excluded.n`
    await client.query(point, [n])
    if (old !== null) await takeAlong(client, this.#names, old, n)
  }
}

interface Version {
  readonly meaning: number
  readonly version: number
}

function mustNotBeNewer({ meaning, version }: Version, schema: string): void {
  if (meaning <= MEANING && version <= migrations.length) return
  throw new ProjectionError(
    'SCHEMA_NEWER',
    `${schema} was written by a newer program; use that, or another schema: the tables come back from the log`,
  )
}

/** What a generation's rows were made by; null: there is no such generation. */
export async function versionOf(client: pg.PoolClient, { control }: Names, n: number): Promise<Version | null> {
  const text = `select meaning, version from ${control}.generations where n = $1`
  return (await client.query<Version>(text, [n])).rows[0] ?? null
}

const exists = async (client: pg.PoolClient, table: string): Promise<boolean> =>
  (await client.query('select where to_regclass($1) is not null', [table])).rowCount === 1

const TABLES_OF = `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = $1`

/**
 * `live`: the pointer that each request reads. `shows`: true where the transaction that asks sees the generation as the live
 * one. A transaction from before a switch sees none of the rows of the tables that came after, and must not take that for
 * an answer.
 */
const controlSql = (control: string) => `
  create schema if not exists ${control};
  create table ${control}.generations (n bigint primary key, meaning bigint not null, version bigint not null);
  create table ${control}.live (id integer primary key check (id = 1), n bigint not null);
  create function ${control}.shows(asked bigint) returns boolean
    stable security definer set search_path = pg_catalog language plpgsql as $$
    begin
      if asked = (select n from ${control}.live) then return true; end if;
      raise exception 'the tables were rebuilt and switched while this transaction was open'
        using errcode = '40001', hint = 'begin a new transaction and ask again';
    end $$`
