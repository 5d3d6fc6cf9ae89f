import type { ControlKind } from '../definition/tools.ts'
import { type AgentState, type Call, callsOf } from './state.ts'

/** How a tool of the agent steers the run, as recorded at its start; false: no control tool has this name. */
export const controlKind = ({ spec }: Pick<AgentState, 'spec'>, toolName: string): ControlKind | false =>
  spec.tools.find(({ name }) => name === toolName)?.control ?? false

/** Has a control call of this kind succeeded among these calls? */
export const hasSucceeded = (state: AgentState, calls: readonly Call[], kind: ControlKind): boolean =>
  calls.some(({ stage, toolName }) => stage.at === 'ended' && stage.success && controlKind(state, toolName) === kind)

/** The call that completes the run has succeeded in the turn that is ending. */
export const completing = (state: AgentState): boolean => hasSucceeded(state, callsOf(state), 'completes')
