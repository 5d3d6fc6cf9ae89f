import { ToolError } from '../../../calls/errors.ts'
import { performTool } from '../../../calls/runtime/perform-tool.ts'
import { readerOf, readOnNote } from '../../../calls/tools/tools.ts'
import type { OutcomeCommand } from '../../decide/commands.ts'
import { denial } from '../../rules/policy.ts'
import type { AgentState } from '../../state/state.ts'
import { controlLimitMs, performControl } from './perform-control.ts'
import type { ToolAttempt } from './tool-attempt.ts'

/** Performs an attempt of an agent's call whose intent is in the log. Returns its redacted outcome. */
export const performCall = (attempt: ToolAttempt): Promise<OutcomeCommand> =>
  performTool(
    { ...attempt, caller: attempt.state },
    {
      limitMs: (tool) => controlLimitMs(tool, attempt.state.spec),
      performControl: (args, signal) => performControl({ ...attempt, signal }, args),
      readOn: readingOn(attempt.state, attempt.call.id),
    },
  )

/** How the agent reads on in a call's result; undefined: it has no tool for it. */
function readingOn(state: AgentState, toolCallId: string): ((from: number) => string) | undefined {
  const reader = readerOf(state.spec.tools)
  if (reader === undefined || denial(state, reader) !== null) return undefined
  return (from) => readOnNote(reader.name, toolCallId, from)
}

/** The error for an aborted attempt: a person cancelled the run, or the driver stops. */
export const brokenOff = ({ cancel }: AgentState): ToolError =>
  cancel === null
    ? new ToolError('INTERRUPTED', 'its driver had to leave it while it was at work; it may have done a part of it')
    : new ToolError('CANCELLED', 'the call was cancelled')
