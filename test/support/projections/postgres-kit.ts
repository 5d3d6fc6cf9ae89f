import { Kysely, PostgresDialect } from 'kysely'
import type pg from 'pg'
import { afterAll, onTestFinished } from 'vitest'
import { PostgresHome } from '../../../projections/engine/postgres/home.ts'
import { openPool } from '../../../projections/engine/postgres/pool.ts'
import type { Database } from '../../../projections/engine/schema/database.ts'
import { eventRows } from '../../../projections/engine/schema/event-rows.ts'
import type { PostgresServer } from '../postgres/postgres-server.ts'
import { type Dump, keys, type TablesKit } from './kit.ts'

let count = 0

/** Unused schemas of a server, and one pool for all its tests, closed after them. */
export function schemasOf(server: () => PostgresServer) {
  let pool: pg.Pool | null = null
  afterAll(() => pool?.end())
  return {
    pool: (): pg.Pool => {
      pool ??= openPool({ url: server().url, max: 40 })
      return pool
    },
    fresh: () => `t${++count}`,
    /** The schema that {@link fresh} returned last. */
    last: () => `t${count}`,
  }
}

/** Every row of a schema's tables, in key order. */
export async function dumpSchema(pool: pg.Pool, schema: string): Promise<Dump> {
  const dump: Dump = {}
  for (const [table, key] of [...keys, ['event_rows', eventRows.key] as const]) {
    const order = key.map((name) => `"${name}"`).join()
    dump[table] = (await pool.query(`select * from ${schema}."${table}" order by ${order}`)).rows
  }
  return dump
}

/** Kysely over the tables of a schema, independent of the live ones. */
const dbOf = (pool: pg.Pool, schema: string) =>
  new Kysely<Database>({
    dialect: new PostgresDialect({
      pool: {
        async connect() {
          const client = await pool.connect()
          await client.query(`set search_path to ${schema}`)
          return client
        },
        end: async () => undefined,
      } as never,
    }),
  })

/** Tables in the server. Each uses the live generation of a home. */
export function postgresKit(server: () => PostgresServer): TablesKit {
  const schemas = schemasOf(server)
  const used: { home: PostgresHome; name: string; tables: string }[] = []
  const made = async () => {
    const [pool, schema] = [schemas.pool(), schemas.fresh()]
    const home = new PostgresHome({ pool, schema })
    const name = await home.live()
    return { home, name, tables: `${schema}_${name}` }
  }
  /** The emptied schema of an earlier test. Emptying is much faster than creating tables. */
  const emptied = async () => {
    const old = used.pop()
    if (old) {
      const all = [...keys.map(([table]) => table), 'event_rows']
      await schemas.pool().query(all.map((table) => `delete from ${old.tables}."${table}"`).join(';'))
    }
    return old
  }
  return {
    name: 'PostgreSQL',
    cases: (number) => Math.ceil(number / 15),
    async fresh() {
      const found = (await emptied()) ?? (await made())
      onTestFinished(() => void used.push(found))
      const { home, name, tables } = found
      const pool = schemas.pool()
      return {
        open: () => home.open(name),
        dump: () => dumpSchema(pool, tables),
        db: dbOf(pool, tables),
        alter: async (text) => void (await pool.query(`set search_path to ${tables}; ${text}; reset search_path`)),
      }
    },
  }
}
