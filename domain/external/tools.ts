import type { Caller } from '../calls/caller.ts'
import { type CallEvent, evolveCall, openedCall } from '../calls/evolve-call.ts'
import { memoryToolNamed, reachOf } from '../calls/memory/memory-tools.ts'
import type { Planning } from '../calls/plan-calls.ts'
import { policyEngine } from '../calls/policy-engine.ts'
import { ImpossibleEvent } from '../stream/impossible.ts'
import type { ExternalEvent } from './events.ts'
import { type ExternalState, nextAskId, type OwnTools } from './state.ts'

// Calls of keepup's tools by an external agent, over MCP. The rules of calls (domain/calls) plan, approve, start and end
// them as they do for keepup agents.

/** The event types that change calls, as in agent streams. */
const OF_CALLS: ReadonlySet<string> = new Set<OutsideCallEvent['type']>([
  'tool_call_start',
  'tool_call_intent',
  'tool_call_retry',
  'tool_call_unknown',
  'tool_call_end',
  'approval_requested',
  'approval_supported',
  'approval_decided',
  'approval_expired',
])

/** An event of a call in the stream of an external run. */
export type OutsideCallEvent = Extract<ExternalEvent, { type: CallEvent['type'] }>

export const isOfCall = (event: ExternalEvent): event is OutsideCallEvent => OF_CALLS.has(event.type)

/** The run as the rules of calls read it; null: keepup governs no calls of the agent. */
export function callerOf({ tools, agentId, runId, driver, reportsTo, commands }: ExternalState): Caller | null {
  if (tools === undefined) return null
  const { spec, hashSalt, step } = tools
  // The run's policy derives from its parent's, as for every child.
  return { agentId, runId, spec, hashSalt, step, driver, parent: { reportsTo }, correlation: commands[0] ?? '' }
}

/** Memory tools are the only control tools of an external agent. They need a phase with tools, as for keepup agents. */
export const externalPolicy = policyEngine((name) =>
  memoryToolNamed(name) === undefined ? undefined : { needsTools: true },
)

/** How the calls of this agent are planned. */
export const planningOf = (caller: Caller): Planning => ({
  policy: externalPolicy,
  control(name) {
    const tool = memoryToolNamed(name)
    if (tool === undefined) return undefined
    return { schema: tool.schema, refusal: (input) => tool.refusal?.(reachOf(caller), input) ?? null }
  },
})

export const NO_CALLS: Omit<OwnTools, 'spec' | 'hashSalt'> = { asked: 0, step: 0, open: [] }

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

/** The tools after an event of a call. Throws ImpossibleEvent if the event cannot follow. */
export function withCallEvent({ driver }: ExternalState, tools: OwnTools, event: OutsideCallEvent): OwnTools {
  const index = tools.open.findIndex(({ id }) => id === event.toolCallId)
  const call = tools.open[index]
  if (call === undefined) throw new ImpossibleEvent(event, `${event.toolCallId} is no open call of this run`)
  const after = evolveCall(call, event, driver?.epoch ?? 0)
  if (after.stage.at !== 'ended') return { ...tools, open: tools.open.with(index, after) }
  return { ...tools, step: tools.step + 1, open: tools.open.toSpliced(index, 1) }
}
