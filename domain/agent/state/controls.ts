import type { ControlKind } from '../definition/tools.ts'
import { type AgentState, type Call, callsOf } from './state.ts'

/** The control kind of a tool as recorded in the spec; false: no control tool has this name. */
export const controlKind = ({ spec }: Pick<AgentState, 'spec'>, toolName: string): ControlKind | false =>
  spec.tools.find(({ name }) => name === toolName)?.control ?? false

export const hasSucceeded = (state: AgentState, calls: readonly Call[], kind: ControlKind): boolean =>
  calls.some(({ stage, toolName }) => stage.at === 'ended' && stage.success && controlKind(state, toolName) === kind)

/** Whether a call that completes the run has succeeded in the turn that is ending. */
export const completing = (state: AgentState): boolean => hasSucceeded(state, callsOf(state), 'completes')
