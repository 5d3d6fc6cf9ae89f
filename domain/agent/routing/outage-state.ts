import { type AgentState, activityOf, type ModelStage, type Outage, recoveryOf } from '../state/state.ts'

type Calling = Extract<ModelStage, { at: 'calling' }>

/** Models of a routed run that have failed since the last answer. */
export const failedSinceAnswer = ({ failedModels = [] }: AgentState): readonly string[] => failedModels

/** Is a provider's rate limit waited for? In recovery the grace time goes on all the same. */
export function waitsForLimit({ machine }: AgentState): boolean {
  const activity = activityOf(machine)
  const model = activity?.status === 'THINKING' ? activity.model : null
  return model?.at === 'backoff' && model.limited === true && recoveryOf(machine) === null
}

/** The outage that the run is in, or null. In recovery there is none: its grace time decides. */
export function outageOf(state: AgentState): Outage | null {
  const activity = activityOf(state.machine)
  if (activity?.status !== 'THINKING' || activity.model.at === 'unrouted') return null
  return recoveryOf(state.machine) === null ? (activity.model.outage ?? null) : null
}

/**
 * How long an outage has been waited for when an attempt fails at an instant, ms: the waits, and the attempts between them,
 * each no longer than its model's time limit, so that a machine that slept has not waited.
 */
export function waitedFor(state: AgentState, { model, outage }: Calling, at: number): number {
  if (outage === undefined) return 0
  const longest = state.spec.models.known.find(({ id }) => id === model)?.timeoutMs ?? 0
  return outage.waitedMs + Math.min(longest, Math.max(0, at - (outage.from ?? at)))
}
