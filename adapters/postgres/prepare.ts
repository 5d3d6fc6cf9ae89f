import type { Pool } from 'pg'

/**
 * Creates a schema and its tables once. Processes that start together do this one after the other. `table`: the table
 * whose existence shows that the work is done. `upgrade`: statements for tables that exist; they change nothing the second
 * time. Throws RangeError for a bad schema name (lower-case letters, digits and
 * `_`).
 */
export async function prepareSchema(
  pool: Pool,
  schema: string,
  table: string,
  create: string,
  upgrade = 'null',
): Promise<void> {
  if (!/^[a-z][a-z0-9_]{0,50}$/.test(schema) || schema.startsWith('pg_')) {
    throw new RangeError(`"${schema}" cannot be a schema here; use up to 51 of a-z, 0-9 and _, a letter first`)
  }
  // A message is one transaction, so a process that hangs between statements cannot keep the lock.
  await pool.query(`select pg_advisory_xact_lock(hashtextextended('keepup ${schema}', 0));
    do $keepup$ begin
      if to_regclass('${schema}.${table}') is null then
        create schema if not exists ${schema};
        ${create};
      else
        ${upgrade};
      end if;
    end $keepup$`)
}
