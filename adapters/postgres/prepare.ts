import type { Pool } from 'pg'

/**
 * Makes a schema and what is in it, once, however many processes start together: they do it one after the other, in one
 * transaction each. `table`: what is there when it was done; `schema`: lower-case letters, digits and `_`.
 */
export async function prepareSchema(pool: Pool, schema: string, table: string, create: string): Promise<void> {
  if (!/^[a-z][a-z0-9_]{0,50}$/.test(schema) || schema.startsWith('pg_')) {
    throw new RangeError(`"${schema}" cannot be a schema here; use up to 51 of a-z, 0-9 and _, a letter first`)
  }
  const client = await pool.connect()
  try {
    // Who hangs here holds nobody up: the server takes it for dead.
    await client.query('begin; set local idle_in_transaction_session_timeout to 5000')
    await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`keepup ${schema}`])
    const made = await client.query('select where to_regclass($1) is not null', [`${schema}.${table}`])
    if (made.rowCount === 0) await client.query(`create schema if not exists ${schema}; ${create}`)
    await client.query('commit')
    client.release()
  } catch (error) {
    client.release(error instanceof Error ? error : true)
    throw error
  }
}
