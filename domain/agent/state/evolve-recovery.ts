import type { AppendRoot } from '../../log/root.ts'
import { ImpossibleEvent } from '../../stream/impossible.ts'
import type { EventOf } from '../events/events.ts'
import { grown } from './evolve-turns.ts'
import { type AgentState, activityOf } from './state.ts'

// The fold of a recovery (seed 000, 5.2).

/** The final warning begins the recovery. Other recovery facts change nothing here. */
export function recovered(state: AgentState, event: EventOf<'recovery'>): AgentState {
  const { body } = event
  if (body.phase !== 'final_warning') return state
  if (state.machine.status === 'RECOVERY') throw new ImpossibleEvent(event, 'the final warning was given')
  const recovery = {
    reason: body.reason,
    warningTurn: event.turn,
    deadlineAt: state.clock.workedMs + body.deadlineMs,
    pendingWarning: event.bodyHash,
  }
  const machine = { status: 'RECOVERY', recovery, activity: activityOf(state.machine) } as const
  return { ...state, context: grown(state, event.size), machine }
}

/** Adds the warning as the last message at the start of a turn. */
export function addWarning(state: AgentState, append: AppendRoot): AgentState {
  const { machine, messages } = state
  if (machine.status !== 'RECOVERY' || machine.recovery.pendingWarning === null) return state
  const recovery = { ...machine.recovery, pendingWarning: null }
  return { ...state, messages: append(messages, machine.recovery.pendingWarning), machine: { ...machine, recovery } }
}
