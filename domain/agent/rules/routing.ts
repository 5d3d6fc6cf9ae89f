import type { ModelInfo } from '../definition/spec.ts'
import type { BodyOf } from '../events/events.ts'
import type { AgentState } from '../state/state.ts'

// ModelRouter: one decision before every model call (seed 000, 5.7).

/** Seed 000, 5.7, with the purpose of the call. A run that names its model has chosen it for its quality. */
export type ModelRoutingDecision = BodyOf<'model_routed'>

/** Model turns in a row that may fail before no model counts as healthy. */
export const MAX_MODEL_FAILURES = 3

/** Resolves a concrete model for the coming turn. */
export function route(state: AgentState): ModelRoutingDecision {
  const { requested, safeDefault, known } = state.spec.models
  const decided = (resolved: string, reason: string): ModelRoutingDecision => ({
    requested,
    resolved,
    reason,
    policy: 'quality',
    purpose: 'turn',
  })
  if (!known.some((model) => model.id === requested)) {
    return decided(safeDefault, `"${requested}" is not among the run's models; the safe default is used`)
  }
  if (state.failedModel === requested && safeDefault !== requested) {
    return decided(safeDefault, `"${requested}" failed in the turn before; the safe default is used`)
  }
  return decided(requested, `the run names ${requested}`)
}

/** What is recorded of a model of the run. */
export function modelInfo(state: AgentState, id: string): ModelInfo {
  const info = state.spec.models.known.find((model) => model.id === id)
  if (info === undefined) throw new Error(`${id} is not among the run's models`)
  return info
}
