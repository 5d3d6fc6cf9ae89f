import { type Kysely, sql } from 'kysely'
import type { Cursor } from '../../../domain/log/cursor.ts'
import type { Database } from '../schema/database.ts'
import { specOf, type TableName, tableNames } from '../schema/tables.ts'
import { progressOf } from '../store/store.ts'

type Cell = string | number | null

/** A table or view for people, with the types of its columns. */
export interface TableShape {
  readonly name: string
  readonly columns: Readonly<Record<string, 'text' | 'integer' | 'real'>>
  /** Columns that order the rows, and identify each. */
  readonly key: readonly string[]
}

type ViewName = Exclude<keyof Database, TableName | 'position' | 'streams' | 'event_rows'>
type TypeOf<V> = Exclude<V, null> extends string ? 'text' : 'integer' | 'real'
type ViewShapes = {
  readonly [V in ViewName]: {
    readonly columns: { readonly [C in keyof Database[V]]: TypeOf<Database[V][C]> }
    readonly key: readonly (keyof Database[V] & string)[]
  }
}

const USE = { tokens: 'integer', nano_dollars: 'integer', agents: 'integer' } as const
type Use = keyof typeof USE
const uses = <P extends string>(prefix: P) =>
  Object.fromEntries(Object.entries(USE).map(([name, type]) => [`${prefix}_${name}`, type])) as {
    readonly [N in Use as `${P}_${N}`]: (typeof USE)[N]
  }

const VIEWS: ViewShapes = {
  agent_lineage: {
    columns: {
      ...{ id: 'text', run_id: 'text', parent_agent_id: 'text', role: 'text', status: 'text', depth: 'integer' },
      ...{ created_at: 'text', completed_at: 'text', usage_input_tokens: 'integer', usage_output_tokens: 'integer' },
      ...{ usage_cost: 'real', code: 'text', turn: 'integer', step: 'integer', revision: 'integer' },
      ...{ nano_dollars: 'integer', in_doubt_tokens: 'integer', in_doubt_nano_dollars: 'integer' },
      ...{ unpriced_calls: 'integer', incomplete_from: 'integer', backend: 'text', ungoverned: 'integer' },
    },
    key: ['id'],
  },
  agent_lineage_totals: {
    columns: {
      ...{ id: 'text', run_id: 'text', agents: 'integer', total_input_tokens: 'integer' },
      ...{ total_output_tokens: 'integer', total_nano_dollars: 'integer', total_cost: 'real' },
      ...{ in_doubt_tokens: 'integer', in_doubt_nano_dollars: 'integer' },
    },
    key: ['id'],
  },
  agent_budgets: {
    columns: {
      ...{ id: 'text', run_id: 'text' },
      ...uses('budget'),
      ...uses('spent'),
      ...uses('reserved'),
      ...uses('uncertain'),
    },
    key: ['id'],
  },
  artifacts: {
    columns: {
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
    key: ['id'],
  },
  checkpoint_facts: {
    columns: {
      ...{ agent_id: 'text', revision: 'integer', step: 'integer', input: 'integer', output: 'integer' },
      nano_dollars: 'integer',
    },
    key: ['agent_id', 'revision'],
  },
  waiting: {
    columns: { run_id: 'text', agent_id: 'text', reason: 'text', tool_call_id: 'text' },
    // The view has few rows. Rows with a null in their key cannot be compared, so one page has all rows.
    key: [],
  },
  call_decisions: {
    columns: {
      ...{ call_id: 'text', run_id: 'text', agent_id: 'text', tool: 'text', effect: 'text', decision: 'text' },
      ...{ method: 'text', rule: 'text', principal: 'text', claimed: 'integer', policy_hash: 'text' },
      ...{ shown_hash: 'text', needed: 'integer', asked_at: 'text', decided_at: 'text' },
      ...{ first_revision: 'integer', position: 'integer' },
    },
    key: ['agent_id', 'call_id'],
  },
}

/** Every table and view of rows, without the events. */
export const publicTables = (): readonly TableShape[] => [
  ...tableNames().map((name) => {
    const { columns, key } = specOf(name)
    const types = Object.entries(columns).map(([column, type]) => [column, type.replace('!', '')])
    return { name, columns: Object.fromEntries(types) as TableShape['columns'], key }
  }),
  ...Object.entries(VIEWS as Readonly<Record<string, Omit<TableShape, 'name'>>>).map(([name, shape]) => ({
    name,
    ...shape,
  })),
]

/** The rows of a table in the order of its key, in pages. Each row has the cells in the order of the columns. */
export async function* tableRows(
  db: Kysely<Database>,
  { name, columns, key }: TableShape,
  limit = 2_000,
): AsyncGenerator<readonly (readonly Cell[])[]> {
  const names = Object.keys(columns)
  const refs = sql.join(key.map((one) => sql.ref(one)))
  const all = sql.join(names.map((one) => sql.ref(one)))
  const page = async (after: readonly Cell[] | null) => {
    const later = after === null ? sql`` : sql`where (${refs}) > (${sql.join(after)})`
    const paged = key.length === 0 ? sql`` : sql`${later} order by ${refs} limit ${limit}`
    const query = sql<Readonly<Record<string, Cell>>>`select ${all} from ${sql.table(name)} ${paged}`
    return (await query.execute(db)).rows
  }
  for (let after: readonly Cell[] | null = null; ; ) {
    const rows = await page(after)
    if (rows.length > 0) yield rows.map((row) => names.map((column) => row[column] ?? null))
    const last = rows.at(-1)
    if (last === undefined || key.length === 0 || rows.length < limit) return
    after = key.map((column) => last[column] ?? null)
  }
}

/** The position that the tables show in this transaction. */
export async function positionIn(db: Kysely<Database>): Promise<Cursor | null> {
  const row = await db.selectFrom('position').selectAll().executeTakeFirst()
  return row === undefined ? null : progressOf(row).cursor
}
