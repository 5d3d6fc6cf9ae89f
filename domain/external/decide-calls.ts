import { endCall, failCall } from '../calls/decide/endings.ts'
import { callFailed, callInDoubt } from '../calls/decide/outcomes.ts'
import { beginCall, settleCall, settleOpenCall } from '../calls/decide/proceed.ts'
import { planCalls } from '../calls/plan-calls.ts'
import { startable } from '../calls/scheduling.ts'
import type { ToolOutcome } from '../calls/tools/tool-outcome.ts'
import type { ExternalFact } from './commands.ts'
import type { ExternalDecisionBuilder } from './decision-builder.ts'
import { endIfCancelled, goOnHosted } from './hosted/decide.ts'
import { hostedTool } from './hosted/state.ts'
import { type ExternalState, nextAskId } from './state.ts'
import { externalPolicy, planningOf } from './tools.ts'

// Decisions on calls of keepup's tools by an external agent, and of all tools of a hosted agent, by the rules of calls.

type Fact<K extends ExternalFact['kind']> = Extract<ExternalFact, { kind: K }>
export type ToolCallFact = Fact<'call' | 'calls_go_on' | 'call_left'> | ToolOutcome

/** Decides nothing unless the run is running: the calls end with the run. */
export function decideCalls(d: ExternalDecisionBuilder, state: ExternalState, fact: ToolCallFact): void {
  if (state.stage.at !== 'running' || state.tools === undefined) return
  switch (fact.kind) {
    case 'call':
      return ask(d, state, fact)
    case 'calls_go_on':
      return goOn(d, state, fact)
    case 'call_left':
      return leave(d, fact.toolCallId)
    default:
      return end(d, fact)
  }
}

/** Records the call with this number, planned like a call of a turn. */
function ask(
  d: ExternalDecisionBuilder,
  state: ExternalState,
  { index, providerId = '', name, arguments: args, paths, beyond }: Fact<'call'>,
): void {
  const { asked } = state.tools!
  if (index !== asked) return
  const requested = { block: 0, providerId, name, arguments: args, ...(beyond !== undefined && { beyond }) }
  const { hosted } = state
  // The program of a hosted run has the tools, and the log does not know them.
  const caller =
    hosted === undefined ? d.caller : { ...d.caller, spec: { ...d.caller.spec, tools: [hostedTool(hosted, name)] } }
  const call = planCalls(caller, [requested], [paths], planningOf(caller))[0]!
  const id = nextAskId(state)
  const block = { type: 'tool_use', id: providerId || id, name: call.askedName ?? call.toolName, input: args ?? {} }
  d.emit('tool_call_requested', { content: [block], calls: [call] }, { toolCallId: id })
}

/** The steps that need no request. A cancelled run starts no more calls. */
function goOn(
  d: ExternalDecisionBuilder,
  { cancelledAt }: ExternalState,
  { paused = false }: Fact<'calls_go_on'>,
): void {
  if (cancelledAt !== null) {
    settleOpenCalls(d, 'the agent was cancelled', false)
    return endIfCancelled(d)
  }
  if (d.drives) while (proceed(d, paused));
}

/** Processes each open call once. Returns whether an event was emitted. */
function proceed(d: ExternalDecisionBuilder, paused: boolean): boolean {
  const before = d.revision
  for (const call of d.calls) settleCall(d, call, paused)
  if (d.state?.hosted !== undefined) goOnHosted(d)
  else if (!paused)
    for (const call of startable(d.caller, d.calls)) beginCall(d, call, externalPolicy.needsApproval(d.caller, call))
  return d.revision > before
}

/**
 * Ends a call that the agent no longer waits for. A running call is aborted by its driver and ends with its outcome.
 */
function leave(d: ExternalDecisionBuilder, toolCallId: string): void {
  const call = d.calls.find(({ id }) => id === toolCallId)
  if (call === undefined || call.stage.at === 'running') return
  failCall(d, call, { code: 'CANCELLED', message: 'the agent that called did not wait for it' })
}

/** Ignores outcomes of calls that have ended: the agent already has the result. */
function end(d: ExternalDecisionBuilder, fact: ToolOutcome): void {
  const call = d.calls.find(({ id }) => id === fact.toolCallId)
  if (call?.attempt !== fact.attempt || call.stage.at !== 'running') return
  switch (fact.kind) {
    case 'tool_succeeded':
      endCall(d, call, fact)
      return endIfCancelled(d)
    case 'tool_failed':
      callFailed(d, call, fact)
      return endIfCancelled(d)
    case 'tool_in_doubt':
      callInDoubt(d, call, fact)
      // The external agent does not wait for a person's decision on an unknown outcome, so the call fails now.
      return failCall(d, call, { code: 'UNKNOWN_OUTCOME', message: `${fact.reason}; look before it is done again` })
    default: {
      // The approval applied to the earlier tool and files. An external agent must call again to ask for a new approval.
      const message = `nothing was done: ${fact.reason}`
      return failCall(d, call, { code: 'CONFLICT', message }, { durationMs: fact.durationMs })
    }
  }
}

/**
 * Ends the open calls when the run ends. A call that may have run gets an unknown outcome. No call starts again,
 * because no agent waits for it.
 */
export const settleExternalCalls = (d: ExternalDecisionBuilder, why: string): void => settleOpenCalls(d, why, true)

function settleOpenCalls(d: ExternalDecisionBuilder, message: string, force: boolean): void {
  for (const call of d.calls) settleOpenCall(d, call, { code: 'CANCELLED', message }, force)
}
