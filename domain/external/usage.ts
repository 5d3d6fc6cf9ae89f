import { z } from 'zod'
import type { Budget } from '../agent/definition/spec.ts'

const count = z.int().nonnegative()

const scope = z.enum(['run', 'session'])

/**
 * The usage of a run as its backend reports it. `scope`: of this run alone, or of the whole session up to its end, which
 * counts again what the session used before a resume. A count that the backend does not tell is null.
 */
export const Usage = z.strictObject({
  scope,
  inputTokens: count.nullable(),
  /** The part of the input tokens that a cache served. */
  cachedInputTokens: count.nullable(),
  outputTokens: count.nullable(),
  /** Nano-dollars; null: not known. `priced`: counted from the tokens and the price of the request, not reported. */
  cost: z.strictObject({ nanos: count, scope, priced: z.literal(true).optional() }).nullable(),
  model: z.string().min(1).optional(),
})
export type Usage = z.infer<typeof Usage>

/** More than any run can use. Sums over many runs stay exact numbers, also where agents do not tell the truth. */
const MOST = { tokens: 1e12, nanos: 1e13 }

/** A usage as a backend may report it; null: it is none. */
export function reportedUsage(told: unknown): Usage | null {
  const { success, data } = Usage.safeParse(told)
  if (!success) return null
  const counts = [data.inputTokens, data.cachedInputTokens, data.outputTokens]
  return counts.every((count) => (count ?? 0) <= MOST.tokens) && (data.cost?.nanos ?? 0) <= MOST.nanos ? data : null
}

/** Dollars, as backends report them, in nano-dollars; null for what is no amount of money. */
export function nanosOf(dollars: unknown): number | null {
  if (typeof dollars !== 'number' || !Number.isFinite(dollars) || dollars < 0) return null
  const nanos = Math.round(dollars * 1e9)
  return Number.isSafeInteger(nanos) ? nanos : null
}

/** A number of tokens as a backend reports it; null where it reports none. */
export const reported = (value: unknown): number | null =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : null

/** A number of tokens as a backend reports it; anything else counts as none. */
export const tokens = (value: unknown): number =>
  Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : 0

/** Why a run has used more than it may; null: it has not, or its own share of a session is not known. */
export function overBudget(usage: Usage, { tokens, nanoDollars }: Budget): string | null {
  const spent = usage.cost?.scope === 'run' ? usage.cost.nanos : 0
  if (nanoDollars !== null && spent > nanoDollars) return 'the budget of money is used up'
  const count = usage.scope === 'run' ? (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0) : 0
  return tokens !== null && count > tokens ? 'the budget of tokens is used up' : null
}
