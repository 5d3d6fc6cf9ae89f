import type { Kysely } from 'kysely'
import type { Database } from '../engine/schema/database.ts'
import type { Row } from '../engine/schema/tables.ts'

/** A store with the number of its set variables, and the total size of their values in bytes. */
export type ContextStoreRow = Row<'context_stores'> & { readonly variables: number; readonly bytes: number }

const summed = (db: Kysely<Database>) =>
  db
    .selectFrom('context_stores as s')
    .selectAll('s')
    .select((of) => [
      of
        .selectFrom('stored_variables as v')
        .select((v) => v.fn.countAll().as('variables'))
        .whereRef('v.store', '=', 's.store')
        .where('v.deleted_at', 'is', null)
        .as('variables'),
      of
        .selectFrom('stored_variables as v')
        .select((v) => v.fn.sum('v.bytes').as('bytes'))
        .whereRef('v.store', '=', 's.store')
        .where('v.deleted_at', 'is', null)
        .as('bytes'),
    ])

type Summed = Row<'context_stores'> & { readonly variables: unknown; readonly bytes: unknown }
const counted = ({ variables, bytes, ...row }: Summed): ContextStoreRow => ({
  ...row,
  variables: Number(variables),
  bytes: Number(bytes ?? 0),
})

/** Stores in order of names: at most `limit` after a name. */
export async function listContextStores(
  db: Kysely<Database>,
  { after = '', limit }: { after?: string | undefined; limit: number },
): Promise<ContextStoreRow[]> {
  const rows = await summed(db).where('s.store', '>', after).orderBy('s.store').limit(limit).execute()
  return rows.map(counted)
}

/** One store; undefined: the store does not exist. */
export async function showContextStore(db: Kysely<Database>, store: string): Promise<ContextStoreRow | undefined> {
  const row = await summed(db).where('s.store', '=', store).executeTakeFirst()
  return row && counted(row)
}

/** Variables of a store in order of keys: at most `limit` after a key. */
export function listStoredVariables(
  db: Kysely<Database>,
  which: {
    readonly store: string
    /** Only keys with this beginning. */
    readonly prefix?: string | undefined
    /** Includes deleted variables. */
    readonly deleted?: boolean | undefined
    readonly after?: string | undefined
    readonly limit: number
  },
): Promise<Row<'stored_variables'>[]> {
  const { store, prefix = '', deleted, after, limit } = which
  let query = db.selectFrom('stored_variables').selectAll().where('store', '=', store).orderBy('key').limit(limit)
  // `substr` instead of `like`, because the prefix may contain `%` or `_`.
  if (prefix !== '')
    query = query.where((of) => of(of.fn('substr', ['key', of.lit(1), of.lit(length(prefix))]), '=', prefix))
  if (deleted !== true) query = query.where('deleted_at', 'is', null)
  if (after !== undefined) query = query.where('key', '>', after)
  return query.execute()
}

/** In characters, as databases count them. */
const length = (text: string): number => [...text].length

/** One variable, even a deleted one; undefined: it was never set. */
export const showStoredVariable = (
  db: Kysely<Database>,
  store: string,
  key: string,
): Promise<Row<'stored_variables'> | undefined> =>
  db.selectFrom('stored_variables').selectAll().where('store', '=', store).where('key', '=', key).executeTakeFirst()
