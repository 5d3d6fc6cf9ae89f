import { outageOf } from '../routing/outage-state.ts'
import { startable } from '../rules/scheduling.ts'
import { asksForTurn } from '../state/family.ts'
import { undecided } from '../state/loss-rules.ts'
import { type AgentState, activityOf, type Call, callsOf, isFinished } from '../state/state.ts'

/** One reason why an agent waits: for a person, or for its models to serve again. */
export interface Wait {
  readonly for: 'doubt' | 'approval' | 'pause' | 'model' | 'input'
  /** The call that waits for the approval or the decision; null for the other reasons. */
  readonly toolCallId: string | null
}

/**
 * Everything that an agent waits for, the reason that a drive ends with first. A finished agent and an agent that is being
 * cancelled wait for nothing. The view `waiting` of the tables states the same in SQL.
 */
export function waitsOf(state: AgentState): readonly Wait[] {
  if (isFinished(state) || state.cancel !== null) return []
  const calls = (at: 'approval' | 'doubt'): Wait[] =>
    callsOf(state).flatMap(({ id, stage }) => (stage.at === at ? [{ for: at, toolCallId: id }] : []))
  const activity = activityOf(state.machine)
  const serves = outageOf(state) === null || (activity?.status === 'THINKING' && activity.model.at === 'calling')
  return [
    ...undecided(state).map(({ id }): Wait => ({ for: 'doubt', toolCallId: id })),
    ...calls('approval'),
    ...calls('doubt'),
    ...reason('pause', state.paused),
    ...reason('model', !serves),
    ...reason('input', activity === null && state.unread === 0),
  ]
}

const reason = (why: Wait['for'], holds: boolean): Wait[] => (holds ? [{ for: why, toolCallId: null }] : [])

/** The reason that a drive ends with while the agent waits; null where an effect is at work, or the agent waits for nothing. */
export function waitingFor(state: AgentState): Wait['for'] | null {
  if (state.unversioned !== null) return null
  const epoch = state.driver?.epoch
  if (callsOf(state).some(({ stage }) => stage.at === 'running' && stage.epoch === epoch)) return null
  const activity = activityOf(state.machine)
  if (activity?.status === 'THINKING' && activity.model.at === 'calling' && activity.model.epoch === epoch) return null
  if (state.compression.summarizing !== null && state.compression.summarizing.epoch === epoch) return null
  return waitsOf(state)[0]?.for ?? null
}

/**
 * Does the agent wait for other agents and for nothing else: for the ends of children, for answers to its requests, or for
 * its parent's answer to a request for budget? A drive has nothing to do then until a courier delivers.
 */
export function waitsForAgents(state: AgentState): boolean {
  if (isFinished(state) || state.unversioned !== null) return false
  if (asksForTurn(state)) return true
  const open = callsOf(state).filter(({ stage }) => stage.at !== 'ended')
  const ofAgents = ({ stage }: Call) => stage.at === 'child' || stage.at === 'budget' || stage.at === 'reply'
  const held = (call: Call) => call.refused === null && HELD.has(call.stage.at)
  if (!open.some(ofAgents) || !open.every((call) => ofAgents(call) || held(call))) return false
  return state.cancel !== null || startable(state, callsOf(state)).length === 0
}

/** Stages of calls that have not begun: they may have to wait for the end of a child. */
const HELD: ReadonlySet<Call['stage']['at']> = new Set<Call['stage']['at']>([
  ...(['planned', 'approved', 'resolved'] as const),
])
