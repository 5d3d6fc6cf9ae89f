import { Kysely, PostgresDialect } from 'kysely'
import type pg from 'pg'
import type { Database } from '../../schema/database.ts'

/** A process that hangs in the middle of what others wait for is taken for dead after this, ms: the server rolls it back. */
export const HUNG_AFTER_MS = 5_000

/** SQL: whoever says nothing for so long inside a transaction loses it, and the connection. */
export const unlessHung = (ms: number) => `idle_in_transaction_session_timeout to ${ms}`

/** Does `work` in a transaction of a pool's connection. `kind`: what stands behind `begin`; without, it is to write. */
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
    // Not back into the pool: whatever it was at is over with it.
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
