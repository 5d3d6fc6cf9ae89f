import { z } from 'zod'
import type { Budget } from '../tree/spec.ts'

const count = z.int().nonnegative()

const scope = z.enum(['run', 'session'])

const tokens = {
  inputTokens: count.nullable(),
  /** The part of the input tokens that a cache served. */
  cachedInputTokens: count.nullable(),
  outputTokens: count.nullable(),
} as const

/** The most models in one report of usage. */
export const MOST_MODELS = 32

/**
 * The usage of a run as its backend reports it. `scope`: this run alone, or the whole session up to the run's end,
 * which also counts usage before a resume. Null: the backend does not report the count.
 */
export const ReportedUsage = z.strictObject({
  scope,
  ...tokens,
  /** Nano-dollars; null: unknown. `priced`: computed from the tokens and the request's price, not reported. */
  cost: z.strictObject({ nanoDollars: count, scope, priced: z.literal(true).optional() }).nullable(),
  model: z.string().min(1).optional(),
  /** The same usage by model, for backends that report several. `nanoDollars` null: unknown. */
  models: z
    .strictObject({
      scope,
      each: z
        .array(z.strictObject({ model: z.string().min(1), ...tokens, nanoDollars: count.nullable() }))
        .min(1)
        .max(MOST_MODELS),
    })
    .optional(),
})
export type ReportedUsage = z.infer<typeof ReportedUsage>

/** The usage of a session before a run that continues it. Null: unknown. */
export const SessionUsage = z.strictObject({ ...tokens, nanoDollars: count.nullable() })
export type SessionUsage = z.infer<typeof SessionUsage>

/** More than any run can use. With this bound, sums over many runs stay exact even if agents report false numbers. */
export const MOST_OF_RUN = { tokens: 1e12, nanoDollars: 1e13 }

/** Parses a usage report; null: the report is invalid. */
export function reportedUsage(told: unknown): ReportedUsage | null {
  const { success, data } = ReportedUsage.safeParse(told)
  if (!success) return null
  const all = [{ ...data, nanoDollars: data.cost?.nanoDollars ?? null }, ...(data.models?.each ?? [])]
  const isPossible = ({ inputTokens, cachedInputTokens, outputTokens, nanoDollars }: SessionUsage) =>
    [inputTokens, cachedInputTokens, outputTokens].every((count) => (count ?? 0) <= MOST_OF_RUN.tokens) &&
    (nanoDollars ?? 0) <= MOST_OF_RUN.nanoDollars
  return all.every(isPossible) ? data : null
}

/**
 * The usage of a run that continues a session, from a report that counts the whole session. A figure stays that of the
 * session if the usage before the run is unknown, or greater than the reported one.
 */
export function withoutEarlier(usage: ReportedUsage, before: SessionUsage): ReportedUsage {
  const { inputTokens, cachedInputTokens, outputTokens, cost } = usage
  const [input, output] = [less(inputTokens, before.inputTokens), less(outputTokens, before.outputTokens)]
  const cached = less(cachedInputTokens, before.cachedInputTokens)
  const nanoDollars = cost === null ? null : less(cost.nanoDollars, before.nanoDollars)
  return {
    ...usage,
    ...(usage.scope === 'session' &&
      input !== null &&
      output !== null && { scope: 'run', inputTokens: input, cachedInputTokens: cached, outputTokens: output }),
    ...(cost?.scope === 'session' && nanoDollars !== null && { cost: { ...cost, nanoDollars, scope: 'run' } }),
  }
}

/** The usage of a session up to the end of a run. `before`: the usage before the run; null: unknown. */
export function sessionUsage(usage: ReportedUsage | null, before: SessionUsage | null): SessionUsage {
  const { scope, inputTokens = null, cachedInputTokens = null, outputTokens = null, cost = null } = usage ?? {}
  const tokens = (own: number | null, name: 'inputTokens' | 'cachedInputTokens' | 'outputTokens') =>
    scope === 'session' ? own : more(own, before?.[name] ?? null)
  return {
    inputTokens: tokens(inputTokens, 'inputTokens'),
    cachedInputTokens: tokens(cachedInputTokens, 'cachedInputTokens'),
    outputTokens: tokens(outputTokens, 'outputTokens'),
    nanoDollars:
      cost?.scope === 'session' ? cost.nanoDollars : more(cost?.nanoDollars ?? null, before?.nanoDollars ?? null),
  }
}

export const NO_SESSION_USAGE: SessionUsage = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, nanoDollars: 0 }

/** The sum of two figures; unknown if one of them is. */
export const addUsage = (a: SessionUsage, b: SessionUsage): SessionUsage => ({
  inputTokens: more(a.inputTokens, b.inputTokens),
  cachedInputTokens: more(a.cachedInputTokens, b.cachedInputTokens),
  outputTokens: more(a.outputTokens, b.outputTokens),
  nanoDollars: more(a.nanoDollars, b.nanoDollars),
})

const more = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a + b)
const less = (a: number | null, b: number | null): number | null => (a === null || b === null || a < b ? null : a - b)

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
