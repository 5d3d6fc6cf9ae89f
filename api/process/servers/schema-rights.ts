import type { Pool } from 'pg'
import { schemasOf } from './schema-names.ts'

/** The rights of the PostgreSQL user on the schemas of a deployment. */
export interface SchemaRights {
  /** False: a standby, or a read-only server. */
  readonly takesWrites: boolean
  /** Tables that the user may not read and write. */
  readonly lacking: readonly string[]
  /** Schemas of another owner, in which the user can create and rename nothing. */
  readonly foreign: readonly string[]
  /** Whether the tables of leases and of blobs exist. */
  readonly leases: boolean
  readonly blobs: boolean
}

/**
 * Finds schemas by name. Generations of the tables must also contain a `position` table, since any role may create a
 * schema with such a name.
 */
const OURS = `with ours as (select oid, nspname, nspowner from pg_namespace n where nspname = any($1)
    or (nspname ~ $4 and exists (select from pg_class where relnamespace = n.oid and relname = 'position'))),
  tables as (select c.oid, o.nspname || '.' || c.relname as name, o.nspname, o.oid as schema
    from pg_class c join ours o on o.oid = c.relnamespace where c.relkind = 'r' and o.nspname <> $5)`

/** Blobs are immutable, so they need no right to update. */
const ASKED = `${OURS}
  select current_setting('transaction_read_only') = 'off' as "takesWrites",
    array(select name from tables t where not (has_schema_privilege(t.schema, 'usage')
      and has_table_privilege(t.oid, 'select') and has_table_privilege(t.oid, 'insert') and has_table_privilege(t.oid, 'delete')
      and (t.nspname = $3 or has_table_privilege(t.oid, 'update'))) order by name) as lacking,
    array(select nspname::text from ours where not pg_has_role(nspowner, 'usage') order by nspname) as "foreign",
    exists(select from tables where name = $2 || '.leases') as leases,
    exists(select from tables where name = $3 || '.blobs') as blobs`

/** Queries the rights without creating anything. Rejects with the client's error. */
export async function rightsIn(pool: Pool, namespace: string): Promise<SchemaRights> {
  const { leases, blobs, models, proof, tables: views } = schemasOf(namespace)
  const named = [views, `${views}_control`, leases, blobs, models, proof]
  const generations = `^${views}_\\d{1,15}(_views)?$`
  return (await pool.query<SchemaRights>(ASKED, [named, leases, blobs, generations, views])).rows[0]!
}
