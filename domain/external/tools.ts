import type { CallEvent } from '../agent/state/evolve-calls.ts'
import { evolveCall, openedCall } from '../agent/state/evolve-calls.ts'
import { type AgentState, BLANK, callsOf } from '../agent/state/state.ts'
import { idOf } from '../log/owner.ts'
import type { ExternalEvent } from './events.ts'
import { type ExternalState, nextAskId, type OwnTools } from './state.ts'

// Calls of keepup's tools by an external agent, over MCP. The rules of keepup agents plan, approve, start and end these
// calls: they see the run as an agent that waits for its calls.

/** The event types that change calls, as in agent streams. */
const OF_CALLS: ReadonlySet<string> = new Set<CallEvent['type']>([
  'tool_call_start',
  'tool_call_intent',
  'tool_call_retry',
  'tool_call_unknown',
  'tool_call_end',
  'approval_requested',
  'approval_decided',
  'approval_expired',
])

/** An event of a call in the stream of an external run. */
export type OutsideCallEvent = Extract<
  ExternalEvent,
  { type: Exclude<CallEvent['type'], 'tool_call_resolved' | 'approval_voided'> }
>

export const isOfCall = (event: ExternalEvent): event is OutsideCallEvent => OF_CALLS.has(event.type)

/** The run as a keepup agent that waits for these calls; null: the agent can call no tools. */
export function actingAgent(state: ExternalState): AgentState | null {
  const { tools, agentId, runId, at, driver, reportsTo } = state
  if (tools === undefined) return null
  const { spec, argumentsSalt, step, open } = tools
  return {
    ...BLANK,
    ...{ spec, argumentsSalt, step, agentId, runId, at, driver },
    // The run's policy derives from its parent's, as for every child.
    parent: { agentId: reportsTo === null ? '' : idOf(reportsTo), toolCallId: '' },
    specHash: state.requestHash,
    correlation: state.commands[0] ?? '',
    machine: { status: 'TOOL_WAIT', calls: open },
  }
}

export const NO_CALLS: Omit<OwnTools, 'spec' | 'argumentsSalt'> = { asked: 0, step: 0, open: [] }

/** The tools after a call was requested; null: the request cannot follow. */
export function withRequest(
  state: ExternalState,
  { toolCallId, revision, at, body }: Extract<ExternalEvent, { type: 'tool_call_requested' }>,
): OwnTools | null {
  const { tools } = state
  if (tools === undefined || toolCallId !== nextAskId(state)) return null
  const { asked } = tools
  return {
    ...tools,
    asked: asked + 1,
    open: [...tools.open, openedCall(body.calls[0], toolCallId, asked, revision, at)],
  }
}

/** The tools after an event of a call. Throws if the event cannot follow. */
export function withCallEvent(state: ExternalState, tools: OwnTools, event: OutsideCallEvent): OwnTools {
  const after = evolveCall(actingAgent(state)!, event as CallEvent)
  const open = callsOf(after).filter(({ stage }) => stage.at !== 'ended')
  return { ...tools, step: tools.step + (event.type === 'tool_call_end' ? 1 : 0), open }
}
