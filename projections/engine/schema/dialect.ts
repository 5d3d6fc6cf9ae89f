import { type Kysely, PostgresAdapter } from 'kysely'

/** The differences between the supported databases. Everything else is Kysely and standard SQL. */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres'
  readonly tableSuffix: string
  /** The column type of texts, which are ordered and compared by their bytes. */
  readonly text: string
  /** Whether a table contains the events, because SQL cannot read the log. */
  readonly keepsEvents: boolean
  /** Whether a subquery in `from` may refer to earlier items. */
  readonly lateral: boolean
  /** SQL that converts a value to JSON text. */
  quote(value: string): string
  /** SQL that parses JSON text for the operator `->`. */
  json(text: string): string
}

export const sqlite: Dialect = {
  name: 'sqlite',
  // Rows are looked up by key only. Without a hidden row id, a table is one tree instead of two.
  tableSuffix: 'without rowid',
  text: 'text',
  keepsEvents: false,
  lateral: false,
  quote: (value) => `json_quote(${value})`,
  json: (text) => text,
}

export const postgres: Dialect = {
  name: 'postgres',
  tableSuffix: '',
  text: 'text collate "C"',
  keepsEvents: true,
  lateral: true,
  quote: (value) => `coalesce(cast(to_json(${value}) as text), 'null')`,
  json: (text) => `json_of(${text})`,
}

export const dialectOf = <T>(db: Kysely<T>): Dialect =>
  db.getExecutor().adapter instanceof PostgresAdapter ? postgres : sqlite

/** SQL of a JSON object, as text. Values: SQL of JSON text or NULL. */
export const jsonObject = (members: Readonly<Record<string, string>>) =>
  `'{' || ${Object.entries(members)
    .map(([name, value]) => `'"${name}":' || coalesce(${value}, 'null')`)
    .join(` || ',' || `)} || '}'`

/** SQL of a JSON array of a subquery's column `item` (JSON text), in the subquery's order; `[]` without rows. */
export const jsonArray = (subquery: string) =>
  `'[' || coalesce((select string_agg(item, ',') from (${subquery}) as items), '') || ']'`

/** SQL of a member's JSON text; NULL when the member is missing. `path`: SQL of names and indexes. */
export const memberSql = (json: string, ...path: readonly string[]) => `cast(${[json, ...path].join(' -> ')} as text)`
