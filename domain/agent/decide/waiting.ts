import type { Call } from '../../calls/call.ts'
import { startable } from '../../calls/scheduling.ts'
import { asksForTurn } from '../../tree/family.ts'
import { outageOf } from '../routing/outage-state.ts'
import { undecided } from '../state/loss-rules.ts'
import { type AgentState, activityOf, callsOf, isFinished } from '../state/state.ts'

/** A reason why an agent waits: for a person, or for a model to recover. */
export interface Wait {
  readonly for: 'doubt' | 'approval' | 'pause' | 'model' | 'input'
  /** The call that waits for the approval or decision; null for other reasons. */
  readonly toolCallId: string | null
}

/**
 * All reasons why an agent waits, the reason that ends a drive first. Empty for an agent that has finished or is being
 * cancelled. The SQL view `waiting` must return the same.
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

/** The reason why a drive ends while the agent waits; null: an effect is running, or the agent waits for nothing. */
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
 * Whether the agent waits only for other agents: for ends of children, answers to its requests, or its parent's budget.
 * A drive then has nothing to do until the courier delivers.
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

/** Stages of calls that have not begun; they may have to wait for the end of a child. */
const HELD: ReadonlySet<Call['stage']['at']> = new Set<Call['stage']['at']>([
  ...(['planned', 'approved', 'resolved'] as const),
])
