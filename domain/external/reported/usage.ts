import { MOST_OF_RUN } from '../usage.ts'
import type { SpanUsage } from './span.ts'

/** The figures of a run's spans together. */
export interface Spent {
  readonly tokens: number
  readonly nanoDollars: number
}

export const NOTHING_SPENT: Spent = { tokens: 0, nanoDollars: 0 }

/** The tokens of a call by price class. Null: the span does not report the count. */
export function tokensOf({ input, output, cacheRead, cacheWrite }: SpanUsage) {
  if (input === null) return { input, output, cacheRead: 0, cacheWrite: 0 }
  const [read, write] = [cacheRead ?? 0, cacheWrite ?? 0]
  return { input: input - read - write, output, cacheRead: read, cacheWrite: write }
}

/** The conventions count cached tokens as a part of the input. An instrumentation that does not reports less input. */
export function withCacheInInput<T extends Pick<SpanUsage, 'input' | 'cacheRead' | 'cacheWrite'>>(usage: T): T {
  const cached = (usage.cacheRead ?? 0) + (usage.cacheWrite ?? 0)
  return usage.input === null || cached <= usage.input ? usage : { ...usage, input: usage.input + cached }
}

/** Drops figures with which a run would have more than any run can use: they are false, and sums would be inexact. */
export function boundedUsage(usage: SpanUsage, spent: Spent): SpanUsage {
  const { cost } = usage
  const isCounted = countOf(usage) <= MOST_OF_RUN.tokens - spent.tokens
  const isPaid =
    cost !== null && cost.nanoDollars <= MOST_OF_RUN.nanoDollars - spent.nanoDollars && (isCounted || !cost.priced)
  return { ...(isCounted ? usage : NO_COUNTS), cost: isPaid ? cost : null }
}

const NO_COUNTS = { input: null, output: null, cacheRead: null, cacheWrite: null } as const

const countOf = ({ input, output }: SpanUsage): number => (input ?? 0) + (output ?? 0)

export const withUsage = ({ tokens, nanoDollars }: Spent, usage: SpanUsage): Spent => ({
  tokens: tokens + countOf(usage),
  nanoDollars: nanoDollars + (usage.cost?.nanoDollars ?? 0),
})

/** Whether a span reports tokens that were used. */
export const hasTokens = (usage: SpanUsage | undefined): boolean => usage !== undefined && countOf(usage) > 0
