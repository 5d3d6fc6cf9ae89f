import type { Amounts, Report } from '../../tree/events.ts'
import { addReport, type BudgetKind, eachKind, type Family, type Nullable } from '../../tree/family.ts'
import type { AgentState } from './state.ts'

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
