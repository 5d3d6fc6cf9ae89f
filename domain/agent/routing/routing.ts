import type { Purpose } from '../../tree/routing-config.ts'
import type { ModelInfo } from '../../tree/spec.ts'
import type { BodyOf } from '../events/events.ts'
import type { AgentState } from '../state/state.ts'
import type { HealthFigures } from './decision.ts'
import { failedSinceAnswer } from './outage-state.ts'
import { byRules, type RuleFacts, ruleFacts } from './routing-rules.ts'

// ModelRouter: one decision before every model call (seed 000, 5.7).

/** Seed 000, 5.7, with the purpose of the call. If the run names its model, the policy is `quality`. */
export type ModelRoutingDecision = BodyOf<'model_routed'>

/** Consecutive failed model turns that end a run without routing rules. */
export const MAX_MODEL_FAILURES = 3

/** The current health figures of a model; undefined: no call was observed. */
export type HealthOf = (model: string) => HealthFigures | undefined

export interface RoutingFacts {
  readonly purpose: Purpose
  readonly requested: string
  readonly safeDefault: string
  readonly known: readonly string[]
  /** The model that failed in the previous turn. */
  readonly failed: string | null
  /** The model of the open turn, which stays the same (5.7.4); null: none yet. */
  readonly ofTurn: string | null
  /** Absent: the run names its model. */
  readonly rules?: RuleFacts
}

const UNSEEN: HealthOf = () => undefined

export function routingFacts(
  state: AgentState,
  purpose: Purpose,
  ofTurn: string | null = null,
  health: HealthOf = UNSEEN,
): RoutingFacts {
  const { requested, safeDefault, known, routing } = state.spec.models
  const ids = known.map(({ id }) => id)
  const facts = { purpose, requested, safeDefault, known: ids, failed: state.failedModel, ofTurn }
  return routing === undefined || ofTurn !== null ? facts : { ...facts, rules: ruleFacts(state, routing, health) }
}

export function route(facts: RoutingFacts): ModelRoutingDecision {
  const { purpose, requested, safeDefault, known, failed, ofTurn } = facts
  const decided = (resolved: string, reason: string): ModelRoutingDecision => ({
    requested,
    resolved,
    reason,
    policy: 'quality',
    purpose,
  })
  if (ofTurn !== null) return decided(ofTurn, 'the model of this turn')
  if (facts.rules !== undefined) return { ...decided(safeDefault, ''), ...byRules(facts.rules, purpose, safeDefault) }
  if (!known.includes(requested))
    return decided(safeDefault, `"${requested}" is not among the run's models; the safe default is used`)
  if (failed === requested && safeDefault !== requested)
    return decided(safeDefault, `"${requested}" failed in the turn before; the safe default is used`)
  return decided(requested, `the run names ${requested}`)
}

/** Consecutive failed turns that end the run. A routed run gets at least one per model. */
export const mayFail = ({ spec: { models } }: AgentState): number =>
  models.routing === undefined ? MAX_MODEL_FAILURES : Math.max(MAX_MODEL_FAILURES, models.known.length)

/** Whether the turn after a failure of this model resolves a model that has not failed since the last answer. */
export function resolvesAnother(state: AgentState, model: string): boolean {
  const { requested, safeDefault, routing } = state.spec.models
  if (routing === undefined) return model === requested && safeDefault !== requested
  const failedModels = [...failedSinceAnswer(state), model]
  return !failedModels.includes(route(routingFacts({ ...state, failedModels }, 'turn')).resolved)
}

/** The recorded properties of a model of the run. Throws if the run has no such model. */
export function modelInfo(state: AgentState, id: string): ModelInfo {
  const info = state.spec.models.known.find((model) => model.id === id)
  if (info === undefined) throw new Error(`${id} is not among the run's models`)
  return info
}
