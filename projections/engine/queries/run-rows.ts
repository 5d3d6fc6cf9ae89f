import { type Kysely, sql } from 'kysely'
import { KIND_TABLES } from '../../kinds.ts'
import type { Database } from '../schema/database.ts'

type Cell = string | number | null

/** The tables with rows about runs. */
export const packedTables = (): readonly string[] =>
  [...KIND_TABLES].filter(([, { columns }]) => 'run_id' in columns).map(([name]) => name)

const PAGE = 500

/** Rows of a table about these runs (none: about all runs), in the order of the table's key, after a key. */
export async function rowsOfTable(
  db: Kysely<Database>,
  table: string,
  runs: readonly string[],
  after: readonly Cell[] | null,
): Promise<{ columns: readonly string[]; rows: readonly (readonly Cell[])[]; next: readonly Cell[] | null }> {
  const { columns, key } = KIND_TABLES.get(table)!
  const names = Object.keys(columns)
  const refs = sql.join(key.map((one) => sql.ref(one)))
  const ofRuns = runs.length === 0 ? sql`1 = 1` : sql`${sql.ref('run_id')} in (${sql.join(runs)})`
  const later = after === null ? sql`1 = 1` : sql`(${refs}) > (${sql.join(after)})`
  const query = sql<
    Record<string, Cell>
  >`select * from ${sql.table(table)} where ${ofRuns} and ${later} order by ${refs} limit ${PAGE}`
  const { rows } = await query.execute(db)
  const last = rows.length < PAGE ? undefined : rows.at(-1)
  return {
    columns: names,
    rows: rows.map((row) => names.map((name) => row[name] ?? null)),
    next: last === undefined ? null : key.map((name) => last[name]!),
  }
}
