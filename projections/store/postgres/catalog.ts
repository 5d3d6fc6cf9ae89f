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
