import type { ModelInfo } from '../definition/spec.ts'
import type { Purpose } from '../events/event-parts.ts'
import type { BodyOf } from '../events/events.ts'
import type { AgentState } from '../state/state.ts'

// ModelRouter: one decision before every model call (seed 000, 5.7).

/** Seed 000, 5.7, with the purpose of the call. A run that names its model has chosen it for its quality. */
export type ModelRoutingDecision = BodyOf<'model_routed'>

/** Model turns in a row that may fail before no model counts as healthy. */
export const MAX_MODEL_FAILURES = 3

/** All that a routing decision depends on. */
export interface RoutingFacts {
  readonly purpose: Purpose
  readonly requested: string
  readonly safeDefault: string
  /** Ids of the run's models. */
  readonly known: readonly string[]
  /** The model that failed in the turn before. */
  readonly failed: string | null
  /** The model of the open turn, which stays the same (5.7.4); null: the turn has none yet. */
  readonly ofTurn: string | null
}

/** The facts of a call in this state. */
export function routingFacts(
  { spec: { models }, failedModel }: AgentState,
  purpose: Purpose,
  ofTurn: string | null = null,
): RoutingFacts {
  const { requested, safeDefault, known } = models
  return { purpose, requested, safeDefault, known: known.map(({ id }) => id), failed: failedModel, ofTurn }
}

/** Resolves a concrete model for a call. */
export function route({ purpose, requested, safeDefault, known, failed, ofTurn }: RoutingFacts): ModelRoutingDecision {
  const decided = (resolved: string, reason: string): ModelRoutingDecision => ({
    requested,
    resolved,
    reason,
    policy: 'quality',
    purpose,
  })
  if (ofTurn !== null) return decided(ofTurn, 'the model of this turn')
  if (!known.includes(requested))
    return decided(safeDefault, `"${requested}" is not among the run's models; the safe default is used`)
  if (failed === requested && safeDefault !== requested)
    return decided(safeDefault, `"${requested}" failed in the turn before; the safe default is used`)
  return decided(requested, `the run names ${requested}`)
}

/** What is recorded of a model of the run. */
export function modelInfo(state: AgentState, id: string): ModelInfo {
  const info = state.spec.models.known.find((model) => model.id === id)
  if (info === undefined) throw new Error(`${id} is not among the run's models`)
  return info
}
