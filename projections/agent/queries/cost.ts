import { type Kysely, type RawBuilder, sql } from 'kysely'
import { OTLP } from '../../../domain/external/reported/backend.ts'
import type { CauseRow, Database } from '../../engine/schema/database.ts'
import { SUMS, sumOf, type UsageSum } from './usage.ts'

export type CostGrouping = 'model' | 'role' | 'day' | 'day_model' | 'tool'

export interface CostFigures {
  /**
   * Highest cost first; by day: in order of days. `name`: '' when there is none, for example a run without a role or a
   * turn without a call. By day and model: the day, a space and the model.
   */
  readonly rows: readonly { readonly name: string; readonly sum: UsageSum }[]
  /** Counts every model call once. By tool, the sum of the rows may be greater. */
  readonly total: UsageSum
}

/** The model calls of a cause. `tool`: of results that were sent again; '' for other causes. */
export interface CauseFigures {
  readonly cause: CauseRow['cause']
  readonly tool: string
  readonly calls: number
  readonly tokens: number
  readonly nanoDollars: number
  readonly unpriced: number
}

/** The end of an attempt, or its start when it has not ended. */
const AT = sql<string>`coalesce(m.ended_at, m.started_at, '')`

const NAMES: Record<CostGrouping, RawBuilder<string>> = {
  model: sql`m.model`,
  role: sql`(select l.role from agent_lineage l where l.id = m.agent_id)`,
  day: sql`substr(${AT}, 1, 10)`,
  day_model: sql`substr(${AT}, 1, 10) || ' ' || m.model`,
  tool: sql`t.tool_name`,
}

/** The tools that a turn has called, each once. The calls of a reported run are in no turn, so no tool caused them. */
const CALLED = sql`left join (select distinct c.agent_id, c.turn, c.tool_name from tool_calls c
    join agents a on a.id = c.agent_id where coalesce(a.backend, '') <> ${OTLP}) t
  on t.agent_id = m.agent_id and t.turn = m.turn`

/**
 * The cost of model calls by a criterion, of all runs or of one, for calls that ended at or after `since`. By tool, a
 * turn counts fully for every tool that it called, and a run that was reported over OTLP counts for none.
 */
export async function costBy(
  db: Kysely<Database>,
  by: CostGrouping,
  { since, runId }: { since?: string; runId?: string },
): Promise<CostFigures> {
  const where = sql`where ${AT} >= ${since ?? ''}${runId === undefined ? sql`` : sql` and m.run_id = ${runId}`}`
  const calls = (name: RawBuilder<string>, join: RawBuilder<unknown>) =>
    sql<Database['model_calls'] & { name: string }>`(select m.*, coalesce(${name}, '') as name
      from model_calls m ${join} ${where})`.as('c')
  const rows = await db
    .selectFrom(calls(NAMES[by], by === 'tool' ? CALLED : sql``))
    .select('name')
    .select(SUMS)
    .groupBy('name')
    .execute()
  const total = await db.selectFrom(calls(sql`''`, sql``)).select(SUMS).executeTakeFirstOrThrow()
  const dearest = rows.map(({ name, ...sums }) => ({ name: String(name), sum: sumOf(sums) }))
  dearest.sort((a, b) => b.sum.nanoDollars - a.sum.nanoDollars || (a.name < b.name ? -1 : 1))
  return {
    rows: by.startsWith('day') ? dearest.sort((a, b) => (a.name < b.name ? -1 : 1)) : dearest,
    total: sumOf(total),
  }
}

/** The cost of model calls by cause, the highest first, of all runs or of one, for runs that began at or after `since`. */
export async function costByCauseOf(
  db: Kysely<Database>,
  { since, runId }: { since?: string; runId?: string },
): Promise<readonly CauseFigures[]> {
  const rows = await db
    .selectFrom('cost_by_cause as c')
    .innerJoin('runs as r', 'r.id', 'c.run_id')
    .where('r.created_at', '>=', since ?? '')
    .$if(runId !== undefined, (query) => query.where('c.run_id', '=', runId!))
    .select(['c.cause', sql<string>`coalesce(c.tool_name, '')`.as('tool')])
    .select(({ fn }) => [
      fn.sum<number>('c.calls').as('calls'),
      fn.sum<number>('c.tokens').as('tokens'),
      fn.sum<number>('c.nano_dollars').as('nanoDollars'),
      fn.sum<number | null>('c.unpriced_calls').as('unpriced'),
    ])
    .groupBy(['c.cause', sql`coalesce(c.tool_name, '')`])
    .execute()
  const figures = rows.map(({ cause, tool, calls, tokens, nanoDollars, unpriced }) => ({
    ...{ cause, tool, calls: Number(calls), tokens: Number(tokens) },
    ...{ nanoDollars: Number(nanoDollars), unpriced: Number(unpriced ?? 0) },
  }))
  return figures.sort((a, b) => b.nanoDollars - a.nanoDollars || (a.cause + a.tool < b.cause + b.tool ? -1 : 1))
}
