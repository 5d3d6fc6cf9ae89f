import { Kysely, PostgresDialect } from 'kysely'
import type pg from 'pg'
import type { Database } from '../schema/database.ts'

/** The server rolls back a transaction whose client is silent for this long, ms, because other processes may wait for it. */
export const HUNG_AFTER_MS = 5_000

/** SQL: a client that is silent for so long inside a transaction loses it, and the connection. */
export const unlessHung = (ms: number) => `idle_in_transaction_session_timeout to ${ms}`

/** Does `work` in a transaction of a pool's connection. `kind`: the text after `begin`; absent: a writing transaction. */
export async function inTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
  kind = '',
): Promise<T> {
  const client = await pool.connect()
  try {
    await client.query(kind === '' ? `begin; set local ${unlessHung(HUNG_AFTER_MS)}` : `begin ${kind}`)
    const value = await work(client)
    await client.query('commit')
    client.release()
    return value
  } catch (error) {
    // Not back into the pool: the transaction ends with the connection.
    client.release(error instanceof Error ? error : true)
    throw error
  }
}

/** kysely over one connection. */
export const kyselyOver = (client: pg.PoolClient): Kysely<Database> =>
  new Kysely<Database>({
    dialect: new PostgresDialect({
      pool: {
        connect: async () => ({ query: client.query.bind(client), release: () => undefined }),
        end: async () => undefined,
      } as never,
    }),
  })
