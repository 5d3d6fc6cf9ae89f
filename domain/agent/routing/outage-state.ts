import { type AgentState, activityOf, type ModelStage, type Outage, recoveryOf } from '../state/state.ts'

type Calling = Extract<ModelStage, { at: 'calling' }>

export const failedSinceAnswer = ({ failedModels = [] }: AgentState): readonly string[] => failedModels

/** Whether the run waits for a provider's rate limit. False in recovery, because the grace time continues. */
export function waitsForLimit({ machine }: AgentState): boolean {
  const activity = activityOf(machine)
  const model = activity?.status === 'THINKING' ? activity.model : null
  return model?.at === 'backoff' && model.limited === true && recoveryOf(machine) === null
}

/** The current outage, or null. Null in recovery, because the grace time decides there. */
export function outageOf(state: AgentState): Outage | null {
  const activity = activityOf(state.machine)
  if (activity?.status !== 'THINKING' || activity.model.at === 'unrouted') return null
  return recoveryOf(state.machine) === null ? (activity.model.outage ?? null) : null
}

/**
 * The time that the run has waited in an outage when an attempt fails at `at`, ms. Includes the attempts between the
 * waits, each at most as long as its model's timeout, so that the sleep of a suspended machine does not count.
 */
export function waitedFor(state: AgentState, { model, outage }: Calling, at: number): number {
  if (outage === undefined) return 0
  const longest = state.spec.models.known.find(({ id }) => id === model)?.timeoutMs ?? 0
  return outage.waitedMs + Math.min(longest, Math.max(0, at - (outage.from ?? at)))
}
