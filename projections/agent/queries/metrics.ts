import { type Kysely, sql } from 'kysely'
import { OTLP } from '../../../domain/external/reported/backend.ts'
import type { Database } from '../../engine/schema/database.ts'
import { total } from './usage.ts'

/** Figures for monitors, over all runs. Ended calls keep their outcome, so their counts and sums never fall. */
export interface RunFigures {
  readonly runs: readonly { readonly status: string; readonly role: string; readonly count: number }[]
  readonly modelCalls: readonly {
    readonly model: string
    /** 1: a program chose the text of `model`. */
    readonly reported: number
    readonly outcome: string
    readonly count: number
    readonly input: number
    readonly output: number
    readonly cacheRead: number
    readonly cacheWrite: number
    readonly nanoDollars: number
  }[]
  readonly toolCalls: readonly { readonly tool: string; readonly outcome: string; readonly count: number }[]
  readonly waiting: readonly { readonly reason: string; readonly count: number }[]
  /** Times of decided approvals, in seconds from the question to the answer: how many took at most each bound. */
  readonly approvals: { readonly atMost: readonly number[]; readonly count: number; readonly seconds: number }
}

// A lost call can still be late, and an unknown one can still be resolved.
const ENDED_MODEL_CALLS = ['answered', 'failed', 'late', 'ended']
const ENDED_TOOL_CALLS = ['succeeded', 'failed', 'ended']
/** Whether a run was reported over OTLP. Its program chooses the names of roles, models and tools. */
const isReported = (run: string) => sql`coalesce(${sql.ref(run)}, '') = ${sql.lit(OTLP)}`
/** A model can name any text, so tools that never ran have no name here. */
const TOOL = sql`case when ${isReported('agents.backend')} then ${sql.lit(OTLP)} when ran = 1 then tool_name else '' end`
const count = sql<number>`count(*)`.as('count')

/** The figures of runs. `bounds`: of the times of approvals, in seconds, ascending. Reads whole tables. */
export async function runFigures(db: Kysely<Database>, bounds: readonly number[]): Promise<RunFigures> {
  const runs = await db
    .selectFrom('runs')
    .select([
      'status',
      sql<string>`case when ${isReported('backend')} then ${sql.lit(OTLP)} else coalesce(role, '') end`.as('role'),
    ])
    .select(count)
    .groupBy(['status', sql`2`])
    .execute()
  const modelCalls = await db
    .selectFrom('model_calls')
    .leftJoin('agents', 'agents.id', 'model_calls.agent_id')
    .select([
      sql<string>`coalesce(model, '')`.as('model'),
      'model_calls.status as outcome',
      sql<number>`case when ${isReported('agents.backend')} then 1 else 0 end`.as('reported'),
      count,
      total('input').as('input'),
      total('output').as('output'),
    ])
    .select([total('cache_read').as('cacheRead'), total('cache_write').as('cacheWrite')])
    .select(total('nano_dollars').as('nanoDollars'))
    .where('model_calls.status', 'in', ENDED_MODEL_CALLS)
    .groupBy([sql`1`, 'model_calls.status', sql`3`])
    .execute()
  const toolCalls = await db
    .selectFrom('tool_calls')
    .leftJoin('agents', 'agents.id', 'tool_calls.agent_id')
    .select([sql<string>`${TOOL}`.as('tool'), 'tool_calls.status as outcome', count])
    .where('tool_calls.status', 'in', ENDED_TOOL_CALLS)
    .groupBy([sql`1`, 'tool_calls.status'])
    .execute()
  const waiting = await db.selectFrom('waiting').select(['reason', count]).groupBy('reason').execute()
  const decided = await db
    .selectFrom('approvals')
    .select(['requested_at', 'decided_at'])
    .where('decided_at', 'is not', null)
    .where('status', 'in', ['approved', 'rejected'])
    .execute()
  // The databases count seconds between texts of times differently.
  const times = decided.map((row) => (Date.parse(row.decided_at ?? '') - Date.parse(row.requested_at ?? '')) / 1_000)
  const atMost = bounds.map((bound) => times.filter((time) => time <= bound).length)
  const seconds = times.reduce((sum, time) => sum + time, 0)
  const numbers = <T extends object>(rows: readonly T[]): readonly T[] => rows.map(plain)
  return {
    ...{ runs: numbers(runs), modelCalls: numbers(modelCalls), toolCalls: numbers(toolCalls) },
    ...{ waiting: numbers(waiting), approvals: { atMost, count: times.length, seconds } },
  }
}

/** PostgreSQL gives counts and sums as texts. */
const plain = <T extends object>(row: T): T =>
  Object.fromEntries(
    Object.entries(row).map(([key, value]) => [key, TEXTS.has(key) ? (value ?? '') : Number(value)]),
  ) as T
const TEXTS: ReadonlySet<string> = new Set(['status', 'role', 'model', 'outcome', 'tool', 'reason'])
