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

/** A name as SQL, whatever it holds. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

export const tableThere = async (client: pg.PoolClient, table: string): Promise<boolean> =>
  (await client.query('select where to_regclass($1) is not null', [table])).rowCount === 1

export const schemaThere = async (client: pg.PoolClient, schema: string): Promise<boolean> =>
  (await client.query('select from pg_namespace where nspname = $1', [schema])).rowCount === 1

/** False also where there is no such table. */
export async function columnThere(client: pg.PoolClient, table: string, column: string): Promise<boolean> {
  const text = 'select from pg_attribute where attrelid = to_regclass($1) and attname = $2 and not attisdropped'
  return (await client.query(text, [table, column])).rowCount === 1
}
