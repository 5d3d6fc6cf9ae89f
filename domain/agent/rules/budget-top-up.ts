import type { Amounts } from '../../tree/events.ts'
import { eachKind, NO_AMOUNTS } from '../../tree/family.ts'
import { LEAST_TOKENS } from '../control/delegate-to-agent.ts'
import { spare } from '../state/budget-account.ts'
import { type AgentState, isFinished } from '../state/state.ts'

// Top-ups: the amounts that a child requests and that its parent can grant.

/** The request of an agent whose budget has no room for the next turn: as much as its initial budget. */
export function wantForTurn({ spec }: AgentState): Amounts {
  return { tokens: spec.budget.tokens ?? 0, nanoDollars: spec.budget.nanoDollars ?? 0, agents: 0 }
}

export const mayAsk = (state: AgentState): boolean =>
  state.parent !== null && state.spec.delegation !== undefined && state.cancel === null && !isFinished(state)

/**
 * The budget that the agent can grant to a child. For tokens and money at most half of the free budget after the shares
 * of open calls, so that the agent keeps some for its own turns. Grants all requested kinds or nothing, because the
 * child would ask again for a missing kind.
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
