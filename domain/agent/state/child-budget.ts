import type { Call } from '../../calls/call.ts'
import { controlKind } from '../../calls/tools/tools.ts'
import type { Amounts } from '../../tree/events.ts'
import { type BudgetKind, eachKind, NO_AMOUNTS, type Nullable } from '../../tree/family.ts'
import { free } from './budget-account.ts'
import { type AgentState, callsOf, isFinished } from './state.ts'

// The budget of a child: its share and grant at birth, and the top-ups that it requests and its parent can grant.

/** The smallest token grant of a child. A smaller grant has no room for a working turn and a warning turn. */
export const LEAST_TOKENS = 8_192

/** The delegating calls of the open turn that were not refused, in call order. */
const delegating = (state: AgentState): readonly Call[] =>
  callsOf(state).filter((call) => call.refused === null && controlKind(state, call.toolName) === 'delegates')

/** Stages of calls that have a share and no child yet. */
const UNBORN: ReadonlySet<Call['stage']['at']> = new Set<Call['stage']['at']>([
  ...(['planned', 'approval', 'approved', 'running', 'budget'] as const),
])

/**
 * The share of one delegating call. All delegating calls of a turn get equal shares of the budget that was free when
 * the model answered; the agent keeps one more share. A grant therefore does not depend on the order in which calls
 * begin or children end. If fewer agents are free than calls delegate, the first calls get one each.
 */
function shareOf(state: AgentState, call: Call): Nullable {
  const calls = delegating(state)
  const base = state.family.base ?? free(state)
  const part = (amount: number) => Math.floor(amount / (calls.length + 1))
  const place = calls.findIndex(({ id }) => id === call.id)
  const leaf = state.depth + 1 >= (state.spec.delegation?.maxDepth ?? 0)
  const agents = part(base.agents)
  return {
    tokens: base.tokens === null ? null : part(base.tokens),
    nanoDollars: base.nanoDollars === null ? null : part(base.nanoDollars),
    agents: agents === 0 ? (place < base.agents ? 1 : 0) : leaf ? 1 : agents,
  }
}

/** The free budget minus the shares of calls that have no child yet. */
function spare(state: AgentState): Nullable {
  const left = free(state)
  const shares = delegating(state)
    .filter(({ stage }) => UNBORN.has(stage.at))
    .map((call) => shareOf(state, call))
  const kept = (kind: BudgetKind) => shares.reduce((sum, share) => sum + (share[kind] ?? 0), 0)
  return {
    tokens: left.tokens === null ? null : Math.max(0, left.tokens - kept('tokens')),
    nanoDollars: left.nanoDollars === null ? null : Math.max(0, left.nanoDollars - kept('nanoDollars')),
    agents: Math.max(0, left.agents - kept('agents')),
  }
}

/** The budget that the agent's parent has added for this call. */
export const topUpOf = ({ stage }: Call): Amounts | undefined => (stage.at === 'running' ? stage.topUp : undefined)

/** The grant of a new child: the share of its call and the addition, bounded by the free budget. */
export function grantFor(state: AgentState, call: Call): Nullable {
  const [share, left, more] = [shareOf(state, call), free(state), topUpOf(call)]
  const of = (kind: BudgetKind) => Math.min((share[kind] ?? 0) + (more?.[kind] ?? 0), left[kind] ?? 0)
  return {
    tokens: share.tokens === null ? null : of('tokens'),
    nanoDollars: share.nanoDollars === null ? null : of('nanoDollars'),
    agents: of('agents'),
  }
}

/** The missing budget of a viable child, requested with a margin; null: nothing is missing. */
export function lacking(state: AgentState, grant: Nullable): Amounts | null {
  const least = { tokens: LEAST_TOKENS, nanoDollars: leastMoney(state), agents: 1 }
  const short = eachKind((kind) => {
    const given = grant[kind]
    return given === null || given >= least[kind] ? 0 : least[kind] * (kind === 'agents' ? 1 : 4)
  })
  return short.tokens + short.nanoDollars + short.agents === 0 ? null : short
}

/** The cost of {@link LEAST_TOKENS} input tokens of the requested model, in nano-dollars. */
function leastMoney({ spec: { models } }: AgentState): number {
  const price = models.known.find(({ id }) => id === models.requested)?.price
  return Math.max(1, Math.ceil((LEAST_TOKENS * (price?.input ?? 0)) / 1_000_000))
}

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
