import { type Kysely, PostgresAdapter } from 'kysely'
import { postgresIndex, sqliteIndex } from '../../memory/index-tables.ts'

/** The differences between the databases that hold the tables. The rest is kysely and standard SQL. */
export interface Dialect {
  /** Ends the definition of a table. */
  readonly tableSuffix: string
  /** The type of texts, which are ordered and compared by their bytes. */
  readonly text: string
  /** Whether events are kept in a table, because SQL cannot read the log. */
  readonly keepsEvents: boolean
  /** Whether a subquery in `from` may refer to earlier items. */
  readonly lateral: boolean
  /** SQL of the index over the facts of the memory. */
  readonly memoryIndex: readonly string[]
  /** JSON text of a value. */
  quote(value: string): string
  /** A text that holds JSON, to be taken apart with `->`. */
  json(text: string): string
}

export const sqlite: Dialect = {
  // Rows are found by their keys only; without a hidden row id a table is one tree, not two.
  tableSuffix: 'without rowid',
  text: 'text',
  keepsEvents: false,
  lateral: false,
  memoryIndex: sqliteIndex,
  quote: (value) => `json_quote(${value})`,
  json: (text) => text,
}

export const postgres: Dialect = {
  tableSuffix: '',
  text: 'text collate "C"',
  keepsEvents: true,
  lateral: true,
  memoryIndex: postgresIndex,
  quote: (value) => `coalesce(cast(to_json(${value}) as text), 'null')`,
  json: (text) => `json_of(${text})`,
}

/** The dialect of an open database. */
export const dialectOf = <T>(db: Kysely<T>): Dialect =>
  db.getExecutor().adapter instanceof PostgresAdapter ? postgres : sqlite

/** SQL of a JSON object, as text; the values are SQL of JSON text or NULL. */
export const jsonObject = (members: Readonly<Record<string, string>>) =>
  `'{' || ${Object.entries(members)
    .map(([name, value]) => `'"${name}":' || coalesce(${value}, 'null')`)
    .join(` || ',' || `)} || '}'`

/** SQL of a JSON array of a subquery's column `item` (JSON text), in the subquery's order; `[]` where it has no row. */
export const jsonArray = (subquery: string) =>
  `'[' || coalesce((select string_agg(item, ',') from (${subquery}) as items), '') || ']'`

/** SQL of a member's JSON text; NULL where the member is missing. `path`: SQL of names and indexes. */
export const member = (json: string, ...path: readonly string[]) => `cast(${[json, ...path].join(' -> ')} as text)`
