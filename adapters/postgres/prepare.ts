import type { Pool } from 'pg'

/**
 * Makes a schema and what is in it, once, however many processes start together: they do it one after the other. `table`:
 * what is there when it was done; `schema`: lower-case letters, digits and `_`.
 */
export async function prepareSchema(pool: Pool, schema: string, table: string, create: string): Promise<void> {
  if (!/^[a-z][a-z0-9_]{0,50}$/.test(schema) || schema.startsWith('pg_')) {
    throw new RangeError(`"${schema}" cannot be a schema here; use up to 51 of a-z, 0-9 and _, a letter first`)
  }
  // Sent at once it is one transaction, in which the server waits for nobody: who hangs here holds nobody up.
  await pool.query(`select pg_advisory_xact_lock(hashtextextended('keepup ${schema}', 0));
    do $keepup$ begin
      if to_regclass('${schema}.${table}') is null then
        create schema if not exists ${schema};
        ${create};
      end if;
    end $keepup$`)
}
