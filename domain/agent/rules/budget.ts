import type { Usage } from '../events/content.ts'
import type { ModelInfo } from '../spec/spec.ts'
import { type AgentState, type Estimate, recoveryOf } from '../state/state.ts'
import { cost as costOf, totalTokens } from './money.ts'

// A run's own budget: reserved before a model call, settled by its usage, with a place kept for the warning turn.

/** Output tokens kept for the final `complete_task`. */
export const FINAL_ANSWER_TOKENS = 2_048
/** A call that may answer with fewer tokens than this is not worth making. */
export const MIN_ANSWER_TOKENS = 1_024
/** In recovery less is enough. */
const MIN_FINAL_TOKENS = 256

/** Input tokens of the next call: the last call's own figure, and a third of a token for every byte since. */
export function estimateInput(state: AgentState, parameterBytes: number): number {
  const { tokens, bytes } = state.context
  return tokens === 0 ? Math.ceil((parameterBytes + bytes) / 3) : tokens + Math.ceil(bytes / 3)
}

/** Tokens of all kinds that were spent. */
export const tokensSpent = (state: AgentState): number => totalTokens(state.spent)

/** What the model itself leaves room for, which is no matter of the budget. */
const possibleOutput = (model: ModelInfo, input: number): number =>
  Math.min(model.maxOutputTokens, Math.max(1, model.contextTokens - input))

/** Tokens that the whole budget must have at least for one more turn of work and the warning turn after it. */
export function leastTokens(state: AgentState, model: ModelInfo, parameterBytes: number): number {
  const input = estimateInput(state, parameterBytes)
  return (
    tokensSpent(state) + 2 * input + FINAL_ANSWER_TOKENS + Math.min(MIN_ANSWER_TOKENS, possibleOutput(model, input))
  )
}

/**
 * What the next call may take, or `null` where the budget has no room for it. Outside recovery the place of the warning
 * turn stays free.
 */
export function reserve(state: AgentState, model: ModelInfo, parameterBytes: number): Estimate | null {
  const input = estimateInput(state, parameterBytes)
  const final = recoveryOf(state.machine) !== null
  const kept = final ? 0 : input + FINAL_ANSWER_TOKENS
  const possible = possibleOutput(model, input)
  let maxOutput = possible
  const { tokens, nanoDollars } = state.spec.budget
  if (tokens !== null) maxOutput = Math.min(maxOutput, tokens - tokensSpent(state) - input - kept)
  const price = model.price
  if (nanoDollars !== null && price !== null) {
    const cost = (output: number) => costOf(usageOf(input, output), price)
    const keptMoney = final ? 0 : cost(FINAL_ANSWER_TOKENS)
    const left = nanoDollars - state.spent.nanoDollars - keptMoney - cost(0)
    maxOutput = Math.min(maxOutput, price.output === 0 ? maxOutput : Math.floor((left * 1_000_000) / price.output))
    if (left < 0) return null
  }
  if (maxOutput < Math.min(final ? MIN_FINAL_TOKENS : MIN_ANSWER_TOKENS, possible)) return null
  return { input, maxOutput, nanoDollars: price === null ? null : costOf(usageOf(input, maxOutput), price) }
}

const usageOf = (input: number, output: number): Usage => ({ input, output, cacheRead: 0, cacheWrite: 0 })
