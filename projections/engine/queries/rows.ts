import { type Kysely, sql } from 'kysely'
import type { SpecRow, TableSpecs } from '../schema/columns.ts'
import type { Database } from '../schema/database.ts'

/** Rows of a table with one row per stream, in the order of their keys: at most `limit` after a key. */
export async function listRows<S extends TableSpecs, T extends keyof S & string>(
  db: Kysely<Database>,
  tables: S,
  table: T,
  { after = '', limit }: { readonly after?: string | undefined; readonly limit: number },
): Promise<readonly SpecRow<S[T]>[]> {
  const key = sql.ref(tables[table]!.owner)
  const query = sql<
    SpecRow<S[T]>
  >`select * from ${sql.table(table)} where ${key} > ${after} order by ${key} limit ${limit}`
  return (await query.execute(db)).rows
}

/** The row of one stream; undefined: the tables do not show the stream. `id`: the id of the stream in its kind. */
export async function findRow<S extends TableSpecs, T extends keyof S & string>(
  db: Kysely<Database>,
  tables: S,
  table: T,
  id: string,
): Promise<SpecRow<S[T]> | undefined> {
  const query = sql<SpecRow<S[T]>>`select * from ${sql.table(table)} where ${sql.ref(tables[table]!.owner)} = ${id}`
  return (await query.execute(db)).rows[0]
}
