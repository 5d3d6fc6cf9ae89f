import type { Call } from '../../calls/call.ts'
import { startable } from '../../calls/scheduling.ts'
import { undelivered } from '../../courier/ledger.ts'
import { asksForTurn } from '../../tree/family.ts'
import { undecided } from '../state/loss-rules.ts'
import { type AgentState, activityOf, callsOf, isFinished, type ModelStage, recoveryOf } from '../state/state.ts'
import { endAfterTurn } from './proceed.ts'

/**
 * When a driver must look at the agent next, ms since the epoch. Not later than the state's own time if an effect is in
 * flight (from any driver) or a decision is due; later if only time has to pass. Null: the agent waits for people, is
 * paused with nothing due, or has finished.
 */
export function wakeAt(state: AgentState): number | null {
  // The courier must deliver, also after the end.
  return undelivered(state).length > 0 ? state.at : driverWakeAt(state)
}

/** {@link wakeAt} for the driver alone, without undelivered obligations. */
export function driverWakeAt(state: AgentState): number | null {
  if (isFinished(state)) return null
  if (state.cancel !== null) return waitsForChildren(state) ? Math.max(state.at, state.cancel.deadlineAt) : state.at
  // A person must decide the lost calls before anything else proceeds.
  if (undecided(state).length > 0) return null
  const earliest = Math.min(ofActivity(state), graceEnd(state))
  return earliest === Number.POSITIVE_INFINITY ? null : earliest
}

function waitsForChildren(state: AgentState): boolean {
  const open = callsOf(state).filter(({ stage }) => stage.at !== 'ended')
  return state.unversioned === null && open.length > 0 && open.every(({ stage }) => stage.at === 'child')
}

const NEVER = Number.POSITIVE_INFINITY

function ofActivity(state: AgentState): number {
  if (state.unversioned !== null || state.compression.summarizing !== null) return state.at
  const activity = activityOf(state.machine)
  // A pause delays the next turn, but not the end of the run.
  const unlessPaused = state.paused || asksForTurn(state) ? NEVER : state.at
  switch (activity?.status) {
    case undefined:
      return state.unread > 0 ? unlessPaused : NEVER
    case 'THINKING':
      return ofModel(state, activity.model)
    case 'TOOL_WAIT':
      return ofCalls(state, activity.calls)
    case 'OBSERVATION':
      return activity.ended && endAfterTurn(state, activity, state.at) === null ? unlessPaused : state.at
  }
}

function ofModel({ at, paused }: AgentState, model: ModelStage): number {
  if (model.at === 'calling') return at
  if (paused) return NEVER
  return model.at === 'backoff' ? model.until : at
}

/** During a pause, running and refused calls still end. */
function ofCalls(state: AgentState, calls: readonly Call[]): number {
  if (!state.paused && startable(state, calls).length > 0) return state.at
  return calls.reduce((earliest, call) => Math.min(earliest, ofCall(state, call)), NEVER)
}

function ofCall({ at }: AgentState, { stage, refused }: Call): number {
  switch (stage.at) {
    case 'planned':
      return refused === null ? NEVER : at
    case 'approval':
      return stage.expiresAt
    case 'running':
      return Math.max(at, stage.notBefore)
    case 'reply':
      return stage.until
    case 'rejected':
      return at
    default:
      return NEVER
  }
}

/** In recovery the grace time ends every wait. */
function graceEnd({ machine, clock }: AgentState): number {
  const recovery = recoveryOf(machine)
  return recovery !== null && clock.running ? clock.countedTo + (recovery.deadlineAt - clock.workedMs) : NEVER
}
