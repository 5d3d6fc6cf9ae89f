import type { Call } from '../../calls/call.ts'
import { controlKind } from '../../calls/tools/tools.ts'
import type { Amounts, Report } from '../../tree/events.ts'
import { addReport, type BudgetKind, eachKind, type Family, type Nullable } from '../../tree/family.ts'
import { type AgentState, callsOf } from './state.ts'

// The accounts of one agent in its tree. A child's grant is reserved at its birth and settled at its end. Invariant per
// kind of budget: own spent + uncertain + settled children + open grants <= the agent's own budget.

/** The budget of an agent, including its parent's additions. */
export function budgetOf({ spec, family: { received } }: AgentState): Nullable {
  const { tokens, nanoDollars } = spec.budget
  return {
    tokens: tokens === null ? null : tokens + received.tokens,
    nanoDollars: nanoDollars === null ? null : nanoDollars + received.nanoDollars,
    agents: (spec.delegation?.agents ?? 1) + received.agents,
  }
}

export const ownSpent = ({ spent }: AgentState): Amounts => ({
  tokens: spent.input + spent.output + spent.cacheRead + spent.cacheWrite,
  nanoDollars: spent.nanoDollars,
  agents: 1,
})

export const reserved = ({ children }: Family): Amounts =>
  eachKind((kind) => Object.values(children).reduce((sum, { grant }) => sum + (grant[kind] ?? 0), 0))

/** Usage that late answers to the agent's own model attempts may still add. */
export const exposed = ({ exposure }: Family): Amounts => ({
  tokens: exposure.reduce((sum, one) => sum + one.tokens, 0),
  nanoDollars: exposure.reduce((sum, one) => sum + one.nanoDollars, 0),
  agents: 0,
})

const settled = ({ settled: { spent, uncertain } }: Family): Amounts => ({
  tokens: spent.input + spent.output + spent.cacheRead + spent.cacheWrite + uncertain.tokens,
  nanoDollars: spent.nanoDollars + uncertain.nanoDollars,
  agents: spent.agents + uncertain.agents,
})

/** Budget committed besides the agent's own spending: open grants, late answers and settled children. */
export function committed({ family }: AgentState): Amounts {
  const [open, late, ended] = [reserved(family), exposed(family), settled(family)]
  return eachKind((kind) => open[kind] + late[kind] + ended[kind])
}

/** The remaining budget per kind, at least 0; null: no limit. */
export function free(state: AgentState): Nullable {
  const [budget, own, others] = [budgetOf(state), ownSpent(state), committed(state)]
  const left = (kind: BudgetKind) => Math.max(0, (budget[kind] ?? 0) - own[kind] - others[kind])
  return {
    tokens: budget.tokens === null ? null : left('tokens'),
    nanoDollars: budget.nanoDollars === null ? null : left('nanoDollars'),
    agents: left('agents'),
  }
}

/** Usage of the agent and its descendants: the spent amounts, and the most that may still be added. */
export function totals(state: AgentState): Report {
  const { spent, family } = state
  const own = { spent: { ...spent, agents: 1 }, uncertain: exposed(family) }
  const open = reserved(family)
  const unknown = { ...own, uncertain: eachKind((kind) => own.uncertain[kind] + open[kind]) }
  return addReport(unknown, family.settled)
}

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
export function shareOf(state: AgentState, call: Call): Nullable {
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
export function spare(state: AgentState): Nullable {
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
