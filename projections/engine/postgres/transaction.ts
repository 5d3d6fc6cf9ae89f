import { Kysely, PostgresDialect } from 'kysely'
import type pg from 'pg'
import type { Database } from '../schema/database.ts'

/**
 * The server ends a transaction after its client has been idle for this time, in ms. Other processes may be waiting for
 * that transaction.
 */
export const HUNG_AFTER_MS = 5_000

/**
 * The SQL setting with which the server ends a transaction and its connection after the client has been idle for `ms`.
 */
export const unlessHung = (ms: number) => `idle_in_transaction_session_timeout to ${ms}`

/** Runs `work` in a transaction. `kind`: the text after `begin`; absent: a writing transaction. */
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
    // Do not return the connection to the pool: closing it ends the transaction.
    client.release(error instanceof Error ? error : true)
    throw error
  }
}

/** Kysely over one connection. */
export const kyselyOver = (client: pg.PoolClient): Kysely<Database> =>
  new Kysely<Database>({
    dialect: new PostgresDialect({
      pool: {
        connect: async () => ({ query: client.query.bind(client), release: () => undefined }),
        end: async () => undefined,
      } as never,
    }),
  })
