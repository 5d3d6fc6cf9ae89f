import { controlKind } from '../../calls/tools/tools.ts'
import { ImpossibleEvent } from '../../stream/impossible.ts'
import type { EventOf } from '../events/events.ts'
import { type AgentState, callsOf } from './state.ts'

// Workspace files: the calls that may have changed them, and the versions taken since.

/** After a call that ran and may have changed files, a version of the files is due. */
export function changedFiles(state: AgentState, event: EventOf<'tool_call_end'>): AgentState {
  if (state.spec.workspace === null) return state
  const call = callsOf(state).find(({ id }) => id === event.toolCallId)
  if (call === undefined || call.stage.at !== 'ended' || !call.stage.ran) return state
  // A child's file changes belong to the call that started it.
  if (call.effect === 'pure' && controlKind(state, call.toolName) !== 'delegates') return state
  const { step } = event.body
  return { ...state, unversioned: { from: state.unversioned?.from ?? step, to: step } }
}

/** A version covers the steps up to its own. Later steps need another version. */
export function versioned(state: AgentState, event: EventOf<'workspace_versioned'>): AgentState {
  const { unversioned, tested } = state
  const { step } = event.body
  if (unversioned === null || step < unversioned.from || step > unversioned.to)
    throw new ImpossibleEvent(event, `no version of the files after step ${step} is owed`)
  const left = unversioned.to > step ? { from: step + 1, to: unversioned.to } : null
  if (!('tree' in event.body)) return { ...state, unversioned: left }
  const { tree } = event.body
  const ranOn = tested !== null && tested.tree === null && tested.step >= unversioned.from && tested.step <= step
  return { ...state, unversioned: left, tree, tested: ranOn ? { ...tested, tree } : tested }
}
