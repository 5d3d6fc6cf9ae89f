import { type Kysely, sql } from 'kysely'
import type { Database } from '../../engine/schema/database.ts'

/** Sums over model calls: tokens by price class, cost in nano-dollars, and the uncertain part. */
export interface UsageSum {
  /** All attempts, including those in flight. */
  readonly calls: number
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly nanoDollars: number
  /** Calls of unknown cost; `nanoDollars` excludes them. */
  readonly unpriced: number
  /** Runs of external agents that have reported no usage; the token counts exclude them. */
  readonly untold: number
  /** Estimates for calls whose driver died before it recorded their outcome. */
  readonly inDoubt: { readonly calls: number; readonly tokens: number; readonly nanoDollars: number }
  /** Calls whose figures were erased with their bodies. */
  readonly erased: number
}

export const NO_USAGE: UsageSum = {
  calls: 0,
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  nanoDollars: 0,
  unpriced: 0,
  untold: 0,
  inDoubt: { calls: 0, tokens: 0, nanoDollars: 0 },
  erased: 0,
}

/** A sum of doubles: the drivers throw at an integer above 2^53, so false figures would stop the query for ever. */
export const total = (column: string) => sql<number>`coalesce(sum(cast(${sql.ref(column)} as double precision)), 0)`
const lost = (value: string) =>
  sql<number>`coalesce(sum(case when status = 'lost' then ${sql.raw(value)} else 0 end), 0)`

/** The columns of a sum over rows of `model_calls`, for {@link sumOf}. */
export const SUMS = [
  sql<number>`count(*)`.as('calls'),
  total('input').as('input'),
  total('output').as('output'),
  total('cache_read').as('cacheRead'),
  total('cache_write').as('cacheWrite'),
  total('nano_dollars').as('nanoDollars'),
  // The run of an external agent is one model call in turn 0, so it counts without token figures. A failed call of
  // keepup's own agents used nothing, so it does not count.
  sql<number>`coalesce(sum(case when nano_dollars is null and (input is not null or turn = 0) then 1 else 0 end), 0)`.as(
    'unpriced',
  ),
  sql<number>`coalesce(sum(case when turn = 0 and input is null then 1 else 0 end), 0)`.as('untold'),
  lost('1').as('lostCalls'),
  lost('coalesce(input + output + cache_read + cache_write, 0)').as('lostTokens'),
  lost('coalesce(nano_dollars, 0)').as('lostNanoDollars'),
  sql<number>`coalesce(sum(case when status = 'ended' then 1 else 0 end), 0)`.as('erased'),
] as const

type Summed = Omit<UsageSum, 'inDoubt'> & { lostCalls: number; lostTokens: number; lostNanoDollars: number }

export const sumOf = ({ lostCalls, lostTokens, lostNanoDollars, ...sums }: Summed): UsageSum => ({
  ...sums,
  inDoubt: { calls: lostCalls, tokens: lostTokens, nanoDollars: lostNanoDollars },
})

/** Usage of the given runs by a column of `model_calls`: run, agent or model. Includes lost attempts. */
export async function usageBy(
  db: Kysely<Database>,
  by: 'run_id' | 'agent_id' | 'model',
  runIds: readonly string[],
): Promise<Map<string, UsageSum>> {
  if (runIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('model_calls')
    .select(sql<string>`coalesce(${sql.ref(by)}, '')`.as('name'))
    .select(SUMS)
    .where('run_id', 'in', runIds)
    .groupBy('name')
    .execute()
  return new Map(rows.map(({ name, ...sums }) => [name, sumOf(sums)]))
}

export function addUsage(a: UsageSum, b: UsageSum): UsageSum {
  return {
    calls: a.calls + b.calls,
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    nanoDollars: a.nanoDollars + b.nanoDollars,
    unpriced: a.unpriced + b.unpriced,
    untold: a.untold + b.untold,
    inDoubt: {
      calls: a.inDoubt.calls + b.inDoubt.calls,
      tokens: a.inDoubt.tokens + b.inDoubt.tokens,
      nanoDollars: a.inDoubt.nanoDollars + b.inDoubt.nanoDollars,
    },
    erased: a.erased + b.erased,
  }
}
