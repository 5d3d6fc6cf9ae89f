import type pg from 'pg'
import { otherLog, ProjectionError } from '../errors.ts'
import { postgres } from '../schema/dialect.ts'
import { keptMeaning, migrations } from '../schema/migrations.ts'
import { type Progress, rowOf } from '../store/store.ts'
import { createViews, mendViews } from './audit.ts'
import { columnThere, relationsOf, schemasThere, schemaThere, tableThere } from './catalog.ts'
import { controlSql, generationOf, isWhole, SHOWN } from './control.ts'
import { dependentsIn, dropGeneration, mustHaveNoDependents } from './dependents.ts'
import { schemaOfOthers, stateOf } from './failures.ts'
import type { Names } from './names.ts'
import { ownIn } from './shape.ts'
import { inTransaction, kyselyOver } from './transaction.ts'
import { generationFault, mustNotBeNewer, versionOf } from './version.ts'

// Generations of tables, each in its own schema, and the row that points to the live one. Every change takes the same
// lock in one transaction, so processes that start together change them one after the other.

const NOT_NOW = '55P03'

export class Generations {
  readonly #pool: pg.Pool
  readonly #names: Names
  readonly #warn: (text: string) => void
  readonly #warned = new Map<number | null, string>()
  constructor(pool: pg.Pool, names: Names, warn: (text: string) => void) {
    this.#pool = pool
    this.#names = names
    this.#warn = warn
  }

  /**
   * The live generation; creates the first one when there is none. Rejects with `SCHEMA_NEWER`, or `REFUSED` when the
   * schema belongs to another application.
   */
  async live(): Promise<number> {
    return this.#alone(async (client) => {
      const found = await this.#pointer(client)
      if (found !== null) {
        const stored = await versionOf(client, this.#names, found)
        if (stored !== null) mustNotBeNewer(stored, this.#names.tables(found))
        return found
      }
      await this.#mustBeFree(client)
      const first = await this.#create(client)
      await this.#point(client, null, first)
      return first
    })
  }

  /** The state of the live tables, read only; null: there are none. Rejects like {@link live}. */
  look(): Promise<{ readonly damage: string | null } | null> {
    const { control, tables } = this.#names
    return inTransaction(
      this.#pool,
      async (client) => {
        const found = (await isWhole(client, control)) ? await this.#stored(client) : null
        if (found !== null) {
          const stored = await versionOf(client, this.#names, found)
          if (stored !== null) mustNotBeNewer(stored, tables(found))
          return { damage: await this.#damage(client, found) }
        }
        await this.#mustBeFree(client)
        return null
      },
      'read only',
    )
  }

  /**
   * Creates new tables. `keep` marks them as used before other processes see them. Rejects with `REFUSED` when foreign
   * objects depend on the live tables, because a switch would leave them behind.
   */
  fresh(keep: (n: number) => Promise<void>): Promise<number> {
    return this.#alone(async (client) => {
      const live = await this.#pointer(client)
      if (live !== null) await mustHaveNoDependents(client, this.#names, live)
      const n = await this.#create(client)
      await keep(n)
      return n
    })
  }

  /** The log of the live tables; null: unknown. */
  async logId(): Promise<string | null> {
    return this.#alone(async (client) => {
      const live = await this.#pointer(client)
      return live === null ? null : this.#logOf(client, live)
    })
  }

  /**
   * Migrates a generation's tables to this program's version, and creates dropped views again. Rejects with
   * `SCHEMA_NEWER`, `SCHEMA_OTHER`, or `POSITION_TAKEN` when the tables are damaged and no longer live.
   */
  async migrate(n: number): Promise<void> {
    const { tables, views } = this.#names
    await this.#alone(async (client) => {
      const stored = await versionOf(client, this.#names, n)
      if (stored !== null) mustNotBeNewer(stored, tables(n))
      if (stored?.meaning === keptMeaning() && stored.version < migrations.length)
        await this.#step(client, n, stored.version)
      const damage = await generationFault(client, this.#names, n)
      const isLive = (await this.#pointer(client)) === n
      if (damage !== null && !isLive)
        throw new ProjectionError('POSITION_TAKEN', `the tables ${this.#names.tables(n)} were switched away`)
      if (damage !== null)
        throw new ProjectionError(
          'SCHEMA_OTHER',
          `${damage}; the process that moves the tables rebuilds them from the log`,
        )
      if (!isLive) return
      const lost = await mendViews(client, this.#names, n)
      if (lost.length > 0) this.#warn(`made again in the schema ${views}, where they were missing: ${lost.join(', ')}`)
    })
  }

  /** See {@link Home.pointTo}. Writers of the current generation lose their position. */
  async pointTo(n: number, atLeast: Progress | null, takeOver: boolean): Promise<boolean> {
    // The planner must know the size of the tables before the first query.
    const { rows: made } = await this.#pool.query<{ name: string }>(TABLES_OF, [this.#names.tables(n)])
    await this.#pool.query(`analyze ${made.map(({ name }) => name).join(', ')}`)
    return this.#alone(async (client) => {
      const old = await this.#pointer(client)
      if (old === n) return true
      const position = `${this.#names.tables(old ?? n)}.position`
      const there = old !== null && (await tableThere(client, position))
      if (there && !takeOver) {
        const [theirs, ours] = [await this.#logOf(client, old), await this.#logOf(client, n)]
        if (theirs !== null && ours !== null && theirs !== ours) throw otherLog(theirs, ours)
      }
      if (there && atLeast !== null) {
        const { log_id, position: shown } = rowOf(atLeast)
        const ahead = `select from ${position} where log_id = $1 and position > $2 for update`
        if ((await client.query(ahead, [log_id, shown])).rowCount) return false
      }
      if (old !== null) await mustHaveNoDependents(client, this.#names, old)
      if (there) await client.query(`delete from ${position}`)
      await this.#point(client, old, n)
      return true
    })
  }

  /** Drops a generation. Returns false at once if a session uses it, or (with a warning) if foreign objects do. */
  async drop(n: number): Promise<boolean> {
    try {
      return await this.#alone((client) => this.#drop(client, n))
    } catch (error) {
      const dependents = dependentsIn(error)
      if (dependents !== null) this.warn(this.#kept(n, dependents), n)
      if (dependents !== null || stateOf(error) === NOT_NOW) return false
      throw error
    }
  }

  /** Every generation except the live one, including remains of dropped ones. */
  others(): Promise<number[]> {
    return this.#alone(async (client) => {
      const live = await this.#pointer(client)
      return (await this.#known(client)).filter((n) => n !== live)
    })
  }

  /** Warns about a generation once, until the text changes. */
  warn(text: string, of: number | null): void {
    if (text !== this.#warned.get(of)) this.#warn(text)
    this.#warned.set(of, text)
  }

  async #drop(client: pg.PoolClient, n: number): Promise<boolean> {
    const { tables, control, writers } = this.#names
    if ((await this.#pointer(client)) === n) return false
    const { rows } = await client.query<{ free: boolean }>(`select pg_try_advisory_xact_lock(${writers(n)}) as free`)
    if (!rows[0]!.free) return false
    // Other sessions must not wait long for the locks of this transaction.
    await client.query(`set local lock_timeout = '100ms'`)
    const held = await client.query<{ name: string }>(TABLES_OF, [tables(n)])
    if (held.rows.length > 0) {
      await client.query(`lock table ${held.rows.map(({ name }) => name).join(', ')} in access exclusive mode nowait`)
    }
    await dropGeneration(client, this.#names, n)
    await client.query(`delete from ${control}.generations where n = $1`, [n])
    return true
  }

  #kept(n: number, dependents: string): string {
    return (
      `the tables from before a rebuild (${this.#names.tables(n)}) are kept, because objects of others use them: ` +
      `${dependents.split('\n').join('; ')}. Move or drop these objects; the tables are dropped then.`
    )
  }

  async #alone<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const { lock, control } = this.#names
    return inTransaction(this.#pool, async (client) => {
      await client.query(`select pg_advisory_xact_lock(${lock})`)
      if (!(await isWhole(client, control))) await client.query(controlSql(control))
      return work(client)
    })
  }

  async #logOf(client: pg.PoolClient, n: number): Promise<string | null> {
    const position = `${this.#names.tables(n)}.position`
    if (!(await columnThere(client, position, 'log_id'))) return null
    return (await client.query<{ log_id: string }>(`select log_id from ${position}`)).rows[0]?.log_id ?? null
  }

  /** The live generation. If the pointer was lost, the generation of the published views. */
  async #pointer(client: pg.PoolClient): Promise<number | null> {
    const { views, control, tables } = this.#names
    const stored = await this.#stored(client)
    if (stored !== null && (await schemaThere(client, tables(stored)))) return stored
    const { rows } = await client.query<{ n: number }>(SHOWN, [views, generationOf(views)])
    if (rows.length !== 1) return stored
    await client.query(pointing(control), [rows[0]!.n])
    return rows[0]!.n
  }

  async #stored(client: pg.PoolClient): Promise<number | null> {
    return (await client.query<{ n: number }>(`select n from ${this.#names.control}.live`)).rows[0]?.n ?? null
  }

  async #create(client: pg.PoolClient): Promise<number> {
    const { control, tables } = this.#names
    const n = Math.max(0, ...(await this.#taken(client)), (await this.#pointer(client)) ?? 0) + 1
    await client.query(`insert into ${control}.generations (n, meaning, version) values ($1, ${keptMeaning()}, 0)`, [n])
    await client.query(`create schema ${tables(n)}`)
    await this.#step(client, n, 0)
    return n
  }

  /** Rejects with `REFUSED` when a foreign schema has the name of the tables and no generation exists. */
  async #mustBeFree(client: pg.PoolClient): Promise<void> {
    const { views } = this.#names
    const found = await client.query('select from pg_namespace where nspname ~ $1', [generationOf(views)])
    if (found.rowCount !== 0) return
    const [there] = await schemasThere(client, [views])
    if (there && (there.holds.length > 0 || !there.open)) throw schemaOfOthers(there)
  }

  /** A fault of the live tables or their views, in words; null: none. */
  async #damage(client: pg.PoolClient, live: number): Promise<string | null> {
    const { tables, views } = this.#names
    const damage = await generationFault(client, this.#names, live)
    if (damage !== null) return damage
    const there = new Set((await relationsOf(client, views)).map(({ name }) => name))
    const lost = (await ownIn(client, tables(live))).filter(({ name }) => !there.has(name))
    return lost.length === 0 ? null : `the schema ${views} has lost ${lost.map(({ name }) => name).join(', ')}`
  }

  /** Numbers of generations, including those whose row was lost. */
  #known(client: pg.PoolClient): Promise<number[]> {
    return this.#numbers(
      client,
      `and exists (select from pg_class where relnamespace = s.oid and relname = 'position')`,
    )
  }

  /** Numbers that are not free for a new generation, because any schema, even a foreign one, has the name. */
  #taken(client: pg.PoolClient): Promise<number[]> {
    return this.#numbers(client, '')
  }

  async #numbers(client: pg.PoolClient, which: string): Promise<number[]> {
    const { control, views } = this.#names
    const text = `select n from ${control}.generations
      union select cast(substring(nspname from $1) as bigint) from pg_namespace s where nspname ~ $1 ${which} order by n`
    return (await client.query<{ n: number }>(text, [generationOf(views)])).rows.map(({ n }) => n)
  }

  async #step(client: pg.PoolClient, n: number, from: number): Promise<void> {
    const { control, tables } = this.#names
    await client.query(`set local search_path to ${tables(n)}`)
    for (const step of migrations.slice(from)) await step(kyselyOver(client), postgres)
    await client.query(`update ${control}.generations set version = $1 where n = $2`, [migrations.length, n])
  }

  // Renames schemas instead of replacing views: a rename locks no table or view, so it waits for no reader.
  async #point(client: pg.PoolClient, old: number | null, n: number): Promise<void> {
    const { control, views, published, asideViews } = this.#names
    const there = await schemaThere(client, views)
    if (old === null && there) await mendViews(client, this.#names, n)
    else {
      await createViews(client, this.#names, n)
      if (there) await client.query(`alter schema ${published} rename to ${asideViews(old!)}`)
      await client.query(`alter schema ${asideViews(n)} rename to ${published}`)
    }
    await client.query(pointing(control), [n])
  }
}

const pointing = (control: string) =>
  `insert into ${control}.live (id, n) values (1, $1) on conflict (id) do update set n = excluded.n`

const TABLES_OF = `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = $1`
