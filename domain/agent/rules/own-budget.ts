import type { Usage } from '../../calls/content.ts'
import { RESULT_BYTES } from '../../calls/truncate.ts'
import { cost, totalTokens } from '../../tree/money.ts'
import type { ModelInfo, Price } from '../../tree/spec.ts'
import { budgetOf, committed, free } from '../state/budget-account.ts'
import { type AgentState, type Estimate, recoveryOf } from '../state/state.ts'

// A run's own budget: reserved before each model call, settled by its usage, with a reserve for the warning turn.

/** Output tokens kept for the final `complete_task`. */
export const FINAL_ANSWER_TOKENS = 2_048
/** The least output tokens that make a call worthwhile. */
export const MIN_ANSWER_TOKENS = 1_024
/** The same during recovery. */
const MIN_FINAL_TOKENS = 256

/** Input tokens of the next call: the tokens of the last call, plus a third of a token per byte since. */
export function estimateInput(state: AgentState, parameterBytes: number): number {
  const { tokens, bytes } = state.context
  return tokens === 0 ? Math.ceil((parameterBytes + bytes) / 3) : tokens + Math.ceil(bytes / 3)
}

export const tokensSpent = (state: AgentState): number => totalTokens(state.spent)

/** Output tokens that the model itself allows, regardless of the budget. */
const possibleOutput = (model: ModelInfo, input: number): number =>
  Math.min(model.maxOutputTokens, Math.max(1, model.contextTokens - input))

/** The least total token budget for one more working turn and the warning turn after it. */
export function leastTokens(state: AgentState, model: ModelInfo, parameterBytes: number): number {
  const input = estimateInput(state, parameterBytes)
  const answer = Math.min(MIN_ANSWER_TOKENS, possibleOutput(model, input))
  const least = tokensSpent(state) + 2 * input + 2 * answer + FINAL_ANSWER_TOKENS
  return Math.min(Math.ceil(least / (1 - RESULTS_SHARE)), least + resultTokens(state))
}

/**
 * The warning turn also reads the tool results of the turn before. The reserve for them is the maximum size of as many
 * results as may run at once, but at most this share of the budget. Larger results may use up the warning turn's
 * reserve.
 */
const RESULTS_SHARE = 1 / 8

const resultTokens = ({ spec: { policy } }: AgentState): number =>
  Math.ceil(RESULT_BYTES / 3) * (policy.mode === 'batch' ? policy.maxParallel : 1)

interface Account {
  readonly total: number
  readonly spent: number
  readonly rate: Pick<Usage, 'input' | 'output'>
}

function accounts(state: AgentState, price: Price | null): Account[] {
  const { tokens, nanoDollars } = budgetOf(state)
  const others = committed(state)
  const list: Account[] = []
  if (tokens !== null) {
    const spent = tokensSpent(state) + others.tokens
    list.push({ total: tokens, spent, rate: { input: 1, output: 1 } })
  }
  if (nanoDollars !== null && price !== null) {
    // Tokens written to a provider's cache are input too, and may cost more.
    const rate = { input: Math.max(price.input, price.cacheWrite) / 1_000_000, output: price.output / 1_000_000 }
    const spent = state.spent.nanoDollars + others.nanoDollars + ROUNDED_UP
    list.push({ total: nanoDollars, spent, rate })
  }
  return list
}

/** Each of the two calls is rounded up to a whole nano-dollar. */
const ROUNDED_UP = 2

/**
 * Output tokens that an account allows. Outside recovery, budget is kept for the warning turn, which reads the input
 * (`again`), the answer and the tool results.
 */
function roomFor(state: AgentState, { total, spent, rate }: Account, input: number, again = input): number {
  const final = recoveryOf(state.machine) !== null
  const results = Math.min(resultTokens(state) * rate.input, total * RESULTS_SHARE)
  const kept = final ? 0 : again * rate.input + results + FINAL_ANSWER_TOKENS * rate.output
  const each = final ? rate.output : rate.output + rate.input
  const rest = total - spent - input * rate.input - kept
  return rest < 0 ? -1 : each === 0 ? Number.POSITIVE_INFINITY : Math.floor(rest / each)
}

/** The reservation for the next call, or null if the budget does not allow it. */
export function reserve(state: AgentState, model: ModelInfo, parameterBytes: number): Estimate | null {
  const { price } = model
  const input = estimateInput(state, parameterBytes)
  const maxOutput = room(state, model, input)
  if (maxOutput === null) return null
  return { input, maxOutput, nanoDollars: price === null ? null : mostOf(input, maxOutput, price) }
}

/** Output tokens that the budget allows besides this input; null: too few for an answer. */
export function room(state: AgentState, model: ModelInfo, input: number): number | null {
  const possible = possibleOutput(model, input)
  const rooms = accounts(state, model.price).map((account) => roomFor(state, account, input))
  const maxOutput = Math.min(possible, ...rooms)
  const least = recoveryOf(state.machine) !== null ? MIN_FINAL_TOKENS : MIN_ANSWER_TOKENS
  return maxOutput < Math.min(least, possible) ? null : maxOutput
}

/** The remaining share of the scarcer budget, 0 to 1; null: the run has no budget. */
export function budgetLeft(state: AgentState): number | null {
  const { tokens, nanoDollars } = budgetOf(state)
  const left = free(state)
  const shares = [
    ...(tokens === null ? [] : [(left.tokens ?? 0) / tokens]),
    ...(nanoDollars === null ? [] : [(left.nanoDollars ?? 0) / nanoDollars]),
  ]
  return shares.length === 0 ? null : Math.min(1, ...shares)
}

function mostOf(input: number, output: number, price: Price): number {
  const written = price.cacheWrite > price.input
  return cost({ input: written ? 0 : input, cacheWrite: written ? input : 0, output, cacheRead: 0 }, price)
}

/** The most output tokens of a summary. A summary with fewer than {@link MIN_FINAL_TOKENS} is not made. */
const SUMMARY_TOKENS = 2_048

/** The reservation for a summary of `input` tokens besides the following turns; null: no room in budget or context. */
export function reserveSummary(state: AgentState, model: ModelInfo, input: number, turn: number): Estimate | null {
  if (input + MIN_FINAL_TOKENS > model.contextTokens) return null
  const { price } = model
  const rooms = accounts(state, price).map((account) => roomFor(state, account, input, 2 * turn) - MIN_ANSWER_TOKENS)
  const maxOutput = Math.min(SUMMARY_TOKENS, possibleOutput(model, input), ...rooms)
  if (maxOutput < MIN_FINAL_TOKENS) return null
  return { input, maxOutput, nanoDollars: price === null ? null : mostOf(input, maxOutput, price) }
}
