import type { Call } from '../../calls/call.ts'
import type { ControlKind } from '../../calls/tools/tool-spec.ts'
import { controlKind } from '../../calls/tools/tools.ts'
import { type AgentState, callsOf } from './state.ts'

export const hasSucceeded = (state: AgentState, calls: readonly Call[], kind: ControlKind): boolean =>
  calls.some(({ stage, toolName }) => stage.at === 'ended' && stage.success && controlKind(state, toolName) === kind)

/** Whether a call that completes the run has succeeded in the turn that is ending. */
export const completing = (state: AgentState): boolean => hasSucceeded(state, callsOf(state), 'completes')
