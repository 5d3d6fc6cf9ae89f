import { LEAST_TOKENS } from '../control/delegate-to-agent.ts'
import type { Amounts } from '../events/tree.ts'
import { spare } from '../state/account.ts'
import { eachKind, NO_AMOUNTS } from '../state/family.ts'
import { type AgentState, isFinished } from '../state/state.ts'

// Top-ups: what a child asks its parent for, and what the parent can give.

/** The request of an agent before it starts a turn for which its budget has no room: as much as it began with. */
export function wantForTurn({ spec }: AgentState): Amounts {
  return { tokens: spec.budget.tokens ?? 0, nanoDollars: spec.budget.nanoDollars ?? 0, agents: 0 }
}

/** May the agent ask its parent for more? */
export const mayAsk = (state: AgentState): boolean =>
  state.parent !== null && state.spec.delegation !== undefined && state.cancel === null && !isFinished(state)

/**
 * The budget that the agent can give to a child that asks. Of tokens and money at most half of what is free beside the
 * shares of its open calls, so that something is left for its own turns. All kinds that are asked for, or nothing: one of
 * them alone would only be asked for again.
 */
export function affordable(state: AgentState, want: Amounts): Amounts {
  const left = spare(state)
  const give = eachKind((kind) => {
    const most = left[kind]
    if (most === null || kind === 'agents') return Math.min(want[kind], most ?? want[kind])
    return Math.min(want[kind], Math.floor(most / 2))
  })
  const short =
    (want.agents > 0 && give.agents === 0) ||
    (want.tokens > 0 && give.tokens < Math.min(want.tokens, LEAST_TOKENS)) ||
    (want.nanoDollars > 0 && give.nanoDollars < Math.ceil(want.nanoDollars / 8))
  return short ? NO_AMOUNTS : give
}
