import { type Kysely, sql } from 'kysely'
import type { Database } from '../../../engine/schema/database.ts'
import type { CallFilter } from './calls.ts'

/** The number of runs that started and ended on a day (UTC). */
export interface RunDay {
  readonly day: string
  readonly started: number
  readonly completed: number
  readonly failed: number
}

export interface Routed {
  readonly requested: string
  readonly resolved: string
  readonly policy: string
  readonly purpose: string
  readonly count: number
}

/** Agents now in recovery, and agents that failed in it. The events of type `recovery` give each outcome. */
export interface Recoveries {
  readonly underWay: number
  readonly failed: number
}

/** The budget of a run's root agent. Null: no limit. Money in nano-dollars. */
export interface RunBudget {
  readonly runId: string
  readonly status: string
  readonly tokens: number | null
  readonly spentTokens: number
  readonly reservedTokens: number
  readonly nanoDollars: number | null
  readonly spentNanoDollars: number
  readonly reservedNanoDollars: number
}

const run = (column: string, { runId }: CallFilter) =>
  runId === undefined ? sql`` : sql` and ${sql.ref(column)} = ${runId}`

export async function runDays(db: Kysely<Database>, which: CallFilter): Promise<readonly RunDay[]> {
  const since = which.since ?? ''
  const { rows } =
    await sql<RunDay>`select day, sum(started) as started, sum(completed) as completed, sum(failed) as failed
    from (
      select substr(created_at, 1, 10) as day, 1 as started, 0 as completed, 0 as failed
      from runs where created_at >= ${since}${run('id', which)}
      union all
      select substr(ended_at, 1, 10), 0, case when status = 'completed' then 1 else 0 end,
        case when status = 'completed' then 0 else 1 end
      from runs where ended_at >= ${since}${run('id', which)}) as days
    group by day order by day`.execute(db)
  return rows
}

export async function routed(db: Kysely<Database>, which: CallFilter): Promise<readonly Routed[]> {
  const { rows } =
    await sql<Routed>`select coalesce(m.requested, '') as requested, coalesce(m.resolved, '') as resolved,
      coalesce(m.policy, '') as policy, coalesce(m.purpose, '') as purpose, count(*) as count
    from model_routes m join agents a on a.id = m.agent_id
    where m.at >= ${which.since ?? ''}${run('a.run_id', which)}
    group by 1, 2, 3, 4 order by 5 desc, 1, 2, 3, 4`.execute(db)
  return rows
}

export async function recoveries(db: Kysely<Database>, which: CallFilter): Promise<Recoveries> {
  const { rows } = await sql<Recoveries>`select
      coalesce(sum(case when status = 'recovering' then 1 else 0 end), 0) as "underWay",
      coalesce(sum(case when code = 'RECOVERY_FAILED' then 1 else 0 end), 0) as failed
    from agents where updated_at >= ${which.since ?? ''}${run('run_id', which)}`.execute(db)
  return rows[0]!
}

/** Budgets of runs that started at or after `since` and have a limit, the newest first. */
export async function budgets(db: Kysely<Database>, which: CallFilter, most: number): Promise<readonly RunBudget[]> {
  const { rows } = await sql<RunBudget>`select b.id as "runId", b.status,
      b.budget_tokens as tokens, b.spent_tokens as "spentTokens", b.reserved_tokens as "reservedTokens",
      b.budget_nano_dollars as "nanoDollars", b.spent_nano_dollars as "spentNanoDollars",
      b.reserved_nano_dollars as "reservedNanoDollars"
    from (select r.status, r.started, b.* from runs r join agents a on a.id = r.id join agent_budgets b on b.id = r.id
      where r.created_at >= ${which.since ?? ''}${run('r.id', which)}
        and (a.budget_tokens is not null or a.budget_nano_dollars is not null)
      order by r.started desc limit ${sql.lit(most)}) as b order by b.started desc`.execute(db)
  return rows
}
