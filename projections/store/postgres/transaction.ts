import { Kysely, PostgresDialect } from 'kysely'
import type pg from 'pg'
import type { Database } from '../../schema/database.ts'

/** Does `work` in a transaction of a pool's connection. `kind`: what stands behind `begin`. */
export async function inTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
  kind = '',
): Promise<T> {
  const client = await pool.connect()
  try {
    await client.query(`begin ${kind}`)
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
