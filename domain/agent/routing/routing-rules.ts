import type { Purpose, RoutingConfig, RoutingPolicy, RoutingRule } from '../../tree/routing-config.ts'
import type { ModelInfo } from '../../tree/spec.ts'
import type { BodyOf } from '../events/events.ts'
import { budgetLeft, estimateInput, room } from '../rules/own-budget.ts'
import type { AgentState } from '../state/state.ts'
import { requestFacts } from '../window/request.ts'
import type { HealthFigures, RoutingBasis, RoutingCandidate } from './decision.ts'
import { failedSinceAnswer } from './outage-state.ts'
import { riskOf } from './risk.ts'

// The first matching rule chooses among its models that are capable, affordable and healthy.

export interface RuleFacts {
  readonly config: RoutingConfig
  readonly phase: string
  readonly role: string | null
  readonly basis: RoutingBasis
  readonly callsTools: boolean
  readonly models: ReadonlyMap<string, ModelFacts>
}

export interface ModelFacts {
  readonly info: ModelInfo
  readonly affordable: boolean
  readonly failed: boolean
  readonly figures: HealthFigures | undefined
}

/** Output tokens of a typical answer, for the expected price. */
const TYPICAL_ANSWER = 500

export function ruleFacts(
  state: AgentState,
  config: RoutingConfig,
  health: (model: string) => HealthFigures | undefined,
): RuleFacts {
  const { role, models } = state.spec
  const failed = failedSinceAnswer(state)
  const first = requestFacts(state, models.known[0]!)
  const input = estimateInput(state, first.bytes)
  const facts = models.known.map((info): [string, ModelFacts] => {
    const affordable = room(state, info, input) !== null
    return [info.id, { info, affordable, failed: failed.includes(info.id), figures: health(info.id) }]
  })
  return {
    config,
    phase: state.phase,
    role: role?.name ?? null,
    basis: { risk: riskOf(state), budgetLeft: budgetLeft(state), inputTokens: input },
    callsTools: first.tools.offered.length > 0,
    models: new Map(facts),
  }
}

type Decided = Pick<BodyOf<'model_routed'>, 'resolved' | 'reason'> &
  Partial<Pick<BodyOf<'model_routed'>, 'policy' | 'rule' | 'basis' | 'candidates'>>

const DEFAULT = 'the safe default is used'

/**
 * The choice of the first matching rule, or the safe default if no rule matches, a rule throws, or no model can serve.
 */
export function byRules(facts: RuleFacts, purpose: Purpose, safeDefault: string): Decided {
  const { basis, config } = facts
  let at: RoutingRule | undefined
  try {
    at = config.rules.find((rule) => matches(rule, facts, purpose))
    if (at === undefined) return { resolved: safeDefault, reason: `no rule matches; ${DEFAULT}`, basis }
    return chosen(at, facts, safeDefault)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    const named = at === undefined ? {} : { rule: at.name, policy: at.policy }
    return {
      resolved: safeDefault,
      reason: `${at ? `rule "${at.name}"` : 'a rule'} failed: ${why}; ${DEFAULT}`,
      ...named,
    }
  }
}

function matches({ when = {} }: RoutingRule, { phase, role, basis }: RuleFacts, purpose: Purpose): boolean {
  const { phases, roles, risks, purposes, budgetBelow } = when
  if (phases !== undefined && !phases.includes(phase)) return false
  if (roles !== undefined && (role === null || !roles.includes(role))) return false
  if (risks !== undefined && !risks.includes(basis.risk)) return false
  if (purposes !== undefined && !purposes.includes(purpose)) return false
  return budgetBelow === undefined || (basis.budgetLeft !== null && basis.budgetLeft < budgetBelow)
}

interface Judged {
  readonly id: string
  readonly model: ModelFacts
  readonly refused: string | null
  readonly expected: number | null
}

function chosen(rule: RoutingRule, facts: RuleFacts, safeDefault: string): Decided {
  const judged = (rule.models ?? facts.config.models).map((id): Judged => {
    const model = facts.models.get(id)
    if (model === undefined) throw new Error(`"${id}" is not among the run's models`)
    const refused = unable(rule, facts, model) ?? unwell(model)
    return { id, model, refused, expected: expectedCost(model.info, facts.basis.inputTokens) }
  })
  const recorded = {
    policy: rule.policy,
    rule: rule.name,
    basis: facts.basis,
    candidates: judged.map(candidate),
  }
  const able = judged.filter(({ refused }) => refused === null)
  if (able.length > 0) {
    const best = able.reduce((a, b) => (isBetter(rule.policy, b, a) ? b : a))
    const probe = best.model.figures?.health === 'half_open' ? '; the call tries whether it serves again' : ''
    return { ...recorded, resolved: best.id, reason: `rule "${rule.name}": ${WHY[rule.policy]}${probe}` }
  }
  const why = `rule "${rule.name}": no model can serve`
  // If the safe default itself has failed, a model is tried whose failures were seen only by other runs.
  const untried = facts.models.get(safeDefault)?.failed
    ? judged.find(({ model }) => !model.failed && unable(rule, facts, model) === null)
    : undefined
  if (untried === undefined) return { ...recorded, resolved: safeDefault, reason: `${why}; ${DEFAULT}` }
  return {
    ...recorded,
    resolved: untried.id,
    reason: `${why}, and the safe default has failed; ${untried.id} is tried`,
  }
}

const WHY: Readonly<Record<RoutingPolicy, string>> = {
  cost: 'the lowest expected price',
  latency: 'the lowest rolling median',
  quality: 'the highest rank',
}

/** Why a model cannot serve the request, or null. */
function unable({ needs = {} }: RoutingRule, { basis, callsTools }: RuleFacts, model: ModelFacts): string | null {
  const { tools, vision, contextTokens } = model.info
  if (callsTools && tools === false) return 'it cannot call tools'
  if (needs.vision && vision !== true) return 'it does not read images'
  if (needs.contextTokens !== undefined && contextTokens < needs.contextTokens)
    return `its context of ${contextTokens} tokens is less than ${needs.contextTokens}`
  if (basis.inputTokens >= contextTokens)
    return `about ${basis.inputTokens} tokens do not fit into its context of ${contextTokens}`
  return model.affordable ? null : 'the budget leaves no room for a call of it'
}

/** Why a model is not expected to answer, or null. */
function unwell({ failed, figures }: ModelFacts): string | null {
  if (failed) return 'it has failed since the last answer'
  return figures?.health === 'unhealthy' ? `it is unhealthy (${figures.breach ?? 'it is being tried'})` : null
}

/** In nano-dollars, rounded; null: the price is not known. */
function expectedCost({ price }: ModelInfo, input: number): number | null {
  return price === null ? null : Math.round((input * price.input + TYPICAL_ANSWER * price.output) / 1_000_000)
}

/**
 * The id breaks ties. A model with an unknown price counts as the most expensive. A model without measurements comes
 * first, so that it gets measured.
 */
function isBetter(policy: RoutingPolicy, a: Judged, b: Judged): boolean {
  const by = rank(policy, a) - rank(policy, b)
  return by === 0 || Number.isNaN(by) ? a.id < b.id : by < 0
}

/** Lower is better. */
function rank(policy: RoutingPolicy, { model, expected }: Judged): number {
  if (policy === 'cost') return expected ?? Number.POSITIVE_INFINITY
  return policy === 'latency' ? (model.figures?.medianMs ?? 0) : -(model.info.quality ?? 0)
}

const candidate = ({ id, model: { figures }, refused, expected }: Judged): RoutingCandidate => ({
  model: id,
  nanoDollars: expected,
  ...(refused === null ? {} : { refused }),
  ...(figures === undefined ? {} : { figures }),
})
