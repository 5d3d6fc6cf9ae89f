import type pg from 'pg'

/** A table (`r`), view (`v`) or materialized view (`m`) of a schema. */
export interface Relation {
  readonly name: string
  readonly kind: 'r' | 'v' | 'm'
}

const RELATIONS = `select c.relname as name, c.relkind as kind from pg_class c join pg_namespace s on s.oid = c.relnamespace
  where s.nspname = $1 and c.relkind in ('r', 'v', 'm') order by 1`

export const relationsOf = async (client: pg.PoolClient | pg.Pool, schema: string): Promise<readonly Relation[]> =>
  (await client.query<Relation>(RELATIONS, [schema])).rows

/** Quotes any name for SQL. */
export const quotedName = (name: string): string => `"${name.replaceAll('"', '""')}"`

export const tableThere = async (client: pg.PoolClient, table: string): Promise<boolean> =>
  (await client.query('select where to_regclass($1) is not null', [table])).rowCount === 1

export const schemaThere = async (client: pg.PoolClient, schema: string): Promise<boolean> =>
  (await client.query('select from pg_namespace where nspname = $1', [schema])).rowCount === 1

/** False also when the table does not exist. */
export async function columnThere(client: pg.PoolClient, table: string, column: string): Promise<boolean> {
  const text = 'select from pg_attribute where attrelid = to_regclass($1) and attname = $2 and not attisdropped'
  return (await client.query(text, [table, column])).rowCount === 1
}

export interface SchemaLook {
  readonly name: string
  readonly owner: string
  /** Whether this user may create objects in it. */
  readonly open: boolean
  /** Names of its relations and functions. */
  readonly holds: readonly string[]
}

const SCHEMAS = `select nspname::text as name, pg_get_userbyid(nspowner)::text as owner,
    has_schema_privilege(oid, 'create') as open,
    array(select relname::text from pg_class where relnamespace = n.oid and relkind in ('r', 'p', 'v', 'm', 'S', 'f')
      union select proname::text from pg_proc where pronamespace = n.oid order by 1) as holds
  from pg_namespace n where nspname = any($1) order by 1`

/** The existing schemas among the given names. */
export const schemasThere = async (client: pg.PoolClient | pg.Pool, names: readonly string[]) =>
  (await client.query<SchemaLook>(SCHEMAS, [names])).rows
