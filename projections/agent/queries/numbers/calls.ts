import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Database } from '../../../engine/schema/database.ts'

/** Selects calls of all runs or of one by the last known time: end, else start, else request. */
export interface CallFilter {
  /** Inclusive; ISO 8601 in UTC. */
  readonly since?: string
  readonly runId?: string
}

/** The number, failures and durations of calls with the same name. */
export interface MeasuredCalls {
  /** '' when there is no name. */
  readonly name: string
  readonly calls: number
  readonly failed: number
  /** Durations in ms; null: no call has one. p95: 95 percent of the calls took at most this long. */
  readonly p50: number | null
  readonly p95: number | null
  readonly p99: number | null
  readonly most: number | null
}

/** How often calls of a name ended with a code. */
export interface Failures {
  readonly name: string
  readonly code: string
  readonly count: number
}

/** The calls of a table, each with `at`, `failed` (0, 1) and `ms`. */
export interface Source {
  readonly calls: RawBuilder<unknown>
  readonly name: RawBuilder<string>
}

const AT = sql`coalesce(c.ended_at, c.started_at`

/**
 * Requested tool calls. A command with another exit code than 0 counts as failed. A call of a fork's prefix counts in its source.
 * A call that was refused before it ran has no duration, so it does not lower the percentiles.
 */
const TOOL_CALLS = sql`(select c.tool_name as name, c.run_id,
    case when c.status = 'failed' and c.ran = 0 then null else c.duration_ms end as ms,
    coalesce(c.code, case when c.exit_code < 0 then 'SIGNAL' when c.exit_code > 0 then 'EXIT_' || c.exit_code end) as code,
    case when c.status = 'failed' or c.exit_code <> 0 then 1 else 0 end as failed, ${AT}, c.requested_at, '') as at
  from tool_calls c where c.requested_revision is not null) as c`

/** Attempts of model calls. An abandoned attempt counts as failed. */
const MODEL_CALLS = sql`(select c.model as name, c.run_id,
    case when c.status = 'lost' then 'LOST' else c.code end as code, c.duration_ms as ms,
    case when c.status in ('failed', 'lost') then 1 else 0 end as failed, ${AT}, '') as at
  from model_calls c) as c`

const NAME = sql<string>`coalesce(c.name, '')`
const DAY = sql<string>`substr(c.at, 1, 10)`

export const SOURCES = {
  tools: { calls: TOOL_CALLS, name: NAME },
  models: { calls: MODEL_CALLS, name: NAME },
  toolDays: { calls: TOOL_CALLS, name: DAY },
  modelDays: { calls: MODEL_CALLS, name: DAY },
} as const satisfies Record<string, Source>

const where = ({ since, runId }: CallFilter) =>
  sql`where c.at >= ${since ?? ''}${runId === undefined ? sql`` : sql` and c.run_id = ${runId}`}`

/** The shortest duration that this percentage of the calls did not exceed. */
const percentile = (percent: number) =>
  sql<number | null>`max(case when ms is not null and place = (timed * ${sql.lit(percent)} + 99) / 100 then ms end)`

/** Calls by name, with nearest-rank percentiles of their durations, in order of names. */
export async function measured(
  db: Kysely<Database>,
  source: Source,
  which: CallFilter,
): Promise<readonly MeasuredCalls[]> {
  const { rows } = await sql<MeasuredCalls>`select name, count(*) as calls, sum(failed) as failed,
      ${percentile(50)} as p50, ${percentile(95)} as p95, ${percentile(99)} as p99, max(ms) as most
    from (
      select name, failed, ms, count(ms) over (partition by name) as timed,
        row_number() over (partition by name, case when ms is null then 1 else 0 end order by ms) as place
      from (select ${source.name} as name, c.failed, c.ms from ${source.calls} ${where(which)}) as named) as placed
    group by name order by name`.execute(db)
  return rows
}

/** Codes of failed or refused calls, the most frequent first. */
export async function failures(db: Kysely<Database>, source: Source, which: CallFilter): Promise<readonly Failures[]> {
  const { rows } = await sql<Failures>`select ${source.name} as name, c.code, count(*) as count
    from ${source.calls} ${where(which)} and c.code is not null
    group by 1, 2 order by 3 desc, 1, 2`.execute(db)
  return rows
}
