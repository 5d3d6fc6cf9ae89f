import { z } from 'zod'
import type { Budget } from '../tree/spec.ts'

const count = z.int().nonnegative()

const scope = z.enum(['run', 'session'])

/**
 * The usage of a run as its backend reports it. `scope`: this run alone, or the whole session up to the run's end,
 * which also counts usage before a resume. Null: the backend does not report the count.
 */
export const ReportedUsage = z.strictObject({
  scope,
  inputTokens: count.nullable(),
  /** The part of the input tokens that a cache served. */
  cachedInputTokens: count.nullable(),
  outputTokens: count.nullable(),
  /** Nano-dollars; null: unknown. `priced`: computed from the tokens and the request's price, not reported. */
  cost: z.strictObject({ nanoDollars: count, scope, priced: z.literal(true).optional() }).nullable(),
  model: z.string().min(1).optional(),
})
export type ReportedUsage = z.infer<typeof ReportedUsage>

/** More than any run can use. With this bound, sums over many runs stay exact even if agents report false numbers. */
export const MOST_OF_RUN = { tokens: 1e12, nanoDollars: 1e13 }

/** Parses a usage report; null: the report is invalid. */
export function reportedUsage(told: unknown): ReportedUsage | null {
  const { success, data } = ReportedUsage.safeParse(told)
  if (!success) return null
  const counts = [data.inputTokens, data.cachedInputTokens, data.outputTokens]
  return counts.every((count) => (count ?? 0) <= MOST_OF_RUN.tokens) &&
    (data.cost?.nanoDollars ?? 0) <= MOST_OF_RUN.nanoDollars
    ? data
    : null
}

/** Converts dollars, the unit of backends, to nano-dollars; null: not an amount of money. */
export function nanosOf(dollars: unknown): number | null {
  if (typeof dollars !== 'number' || !Number.isFinite(dollars) || dollars < 0) return null
  const nanos = Math.round(dollars * 1e9)
  return Number.isSafeInteger(nanos) ? nanos : null
}

/** A reported number of tokens; null: not reported. */
export const reported = (value: unknown): number | null =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : null

/** A reported number of tokens; 0: not reported. */
export const reportedTokens = (value: unknown): number =>
  Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : 0

/** Why a run is over its budget; null: it is not, or its own share of a session is unknown. */
export function overBudget(usage: ReportedUsage, { tokens, nanoDollars }: Budget): string | null {
  const spent = usage.cost?.scope === 'run' ? usage.cost.nanoDollars : 0
  if (nanoDollars !== null && spent > nanoDollars) return 'the budget of money is used up'
  const count = usage.scope === 'run' ? (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0) : 0
  return tokens !== null && count > tokens ? 'the budget of tokens is used up' : null
}
