import { type Kysely, type SelectQueryBuilder, sql } from 'kysely'
import type { Cursor } from '../../../domain/log/cursor.ts'
import type { Database } from '../schema/database.ts'
import { dialectOf } from '../schema/dialect.ts'
import { specOf, type TableName, tableNames } from '../schema/tables.ts'
import { progressOf } from '../store/store.ts'

type Cell = string | number | null

/** A table or view for people, with the types of its columns. */
export interface TableShape {
  readonly name: string
  readonly columns: Readonly<Record<string, 'text' | 'integer' | 'real'>>
  /** Columns that order the rows. A view has none: its rows would first have to be sorted. */
  readonly key: readonly string[]
}

type ViewName = Exclude<keyof Database, TableName | 'position' | 'streams' | 'event_rows' | 'events' | 'checkpoints'>
type TypeOf<V> = Exclude<V, null> extends string ? 'text' : 'integer' | 'real'
type ViewShapes = {
  readonly [V in ViewName]: { readonly [C in keyof Database[V]]: TypeOf<Database[V][C]> }
}

const USE = { tokens: 'integer', nano_dollars: 'integer', agents: 'integer' } as const
type Use = keyof typeof USE
const uses = <P extends string>(prefix: P) =>
  Object.fromEntries(Object.entries(USE).map(([name, type]) => [`${prefix}_${name}`, type])) as {
    readonly [N in Use as `${P}_${N}`]: (typeof USE)[N]
  }

const VIEWS: ViewShapes = {
  agent_lineage: {
    ...{ id: 'text', run_id: 'text', parent_agent_id: 'text', role: 'text', status: 'text', depth: 'integer' },
    ...{ created_at: 'text', completed_at: 'text', usage_input_tokens: 'integer', usage_output_tokens: 'integer' },
    ...{ usage_cost: 'real', code: 'text', turn: 'integer', step: 'integer', revision: 'integer' },
    ...{ nano_dollars: 'integer', in_doubt_tokens: 'integer', in_doubt_nano_dollars: 'integer' },
    ...{ unpriced_calls: 'integer', incomplete_from: 'integer', backend: 'text', ungoverned: 'integer' },
  },
  agent_lineage_totals: {
    ...{ id: 'text', run_id: 'text', agents: 'integer', total_input_tokens: 'integer' },
    ...{ total_output_tokens: 'integer', total_nano_dollars: 'integer', total_cost: 'real' },
    ...{ in_doubt_tokens: 'integer', in_doubt_nano_dollars: 'integer' },
  },
  agent_budgets: {
    ...{ id: 'text', run_id: 'text' },
    ...uses('budget'),
    ...uses('spent'),
    ...uses('reserved'),
    ...uses('uncertain'),
  },
  artifacts: {
    ...{ id: 'text', run_id: 'text', agent_id: 'text', checkpoint_id: 'text', artifact_type: 'text', path: 'text' },
    ...{ content: 'text', metadata: 'text', created_at: 'text', artifact_id: 'text', title: 'text' },
    ...{
      claimed: 'integer',
      tool_call_id: 'text',
      revision: 'integer',
      position: 'integer',
      registered_with: 'text',
    },
  },
  checkpoint_facts: {
    ...{ agent_id: 'text', revision: 'integer', step: 'integer', input: 'integer', output: 'integer' },
    nano_dollars: 'integer',
  },
  waiting: { run_id: 'text', agent_id: 'text', reason: 'text', tool_call_id: 'text' },
  cost_by_cause: {
    ...{ run_id: 'text', agent_id: 'text', cause: 'text', tool_name: 'text', calls: 'integer', tokens: 'integer' },
    ...{ nano_dollars: 'integer', unpriced_calls: 'integer' },
  },
  call_decisions: {
    ...{ call_id: 'text', run_id: 'text', agent_id: 'text', tool: 'text', effect: 'text', decision: 'text' },
    ...{ method: 'text', rule: 'text', principal: 'text', claimed: 'integer', policy_hash: 'text' },
    ...{ shown_hash: 'text', needed: 'integer', asked_at: 'text', decided_at: 'text' },
    ...{ first_revision: 'integer', position: 'integer' },
  },
}

/** Every table and view of rows, without the events. */
export const publicTables = (): readonly TableShape[] => [
  ...tableNames().map((name) => {
    const { columns, key } = specOf(name)
    const types = Object.entries(columns).map(([column, type]) => [column, type.replace('!', '')])
    return { name, columns: Object.fromEntries(types) as TableShape['columns'], key }
  }),
  ...Object.entries<TableShape['columns']>(VIEWS).map(([name, columns]) => ({ name, columns, key: [] })),
]

/**
 * The rows of a table in pages, each row with its cells in the order of the columns. The database runs one statement: a
 * statement per page would compute a whole view for every page. `db`: a transaction, which runs no other statement until
 * the last page.
 */
export async function* tableRows(
  db: Kysely<Database>,
  { name, columns, key }: TableShape,
  limit = 2_000,
): AsyncGenerator<readonly (readonly Cell[])[]> {
  const names = Object.keys(columns)
  const tables = db as unknown as Kysely<Readonly<Record<string, RowOf>>>
  let query = tables.selectFrom(name).select(names)
  for (const one of key) query = query.orderBy(one)
  let page: (readonly Cell[])[] = []
  for await (const row of rowsOf(db, query, limit)) {
    page.push(names.map((column) => row[column] ?? null))
    if (page.length < limit) continue
    yield page
    page = []
  }
  if (page.length > 0) yield page
}

type RowOf = Readonly<Record<string, Cell>>

/** The rows of one statement. Kysely streams rows of PostgreSQL only with a package, so the cursor is SQL. */
async function* rowsOf(
  db: Kysely<Database>,
  query: SelectQueryBuilder<Readonly<Record<string, RowOf>>, string, RowOf>,
  limit: number,
): AsyncGenerator<RowOf> {
  if (dialectOf(db).name === 'sqlite') {
    yield* query.stream()
    return
  }
  await sql`declare table_rows no scroll cursor for ${query}`.execute(db)
  for (let isLast = false; !isLast; ) {
    const { rows } = await sql<RowOf>`fetch ${sql.lit(limit)} from table_rows`.execute(db)
    isLast = rows.length < limit
    yield* rows
  }
  // Otherwise the end of the transaction closes the cursor.
  await sql`close table_rows`.execute(db)
}

/** The position that the tables show in this transaction. */
export async function positionIn(db: Kysely<Database>): Promise<Cursor | null> {
  const row = await db.selectFrom('position').selectAll().executeTakeFirst()
  return row === undefined ? null : progressOf(row).cursor
}
