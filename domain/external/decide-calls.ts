import { decideRequest } from '../agent/decide/decide-requests.ts'
import { decideToolFact } from '../agent/decide/decide-tools.ts'
import { DecisionBuilder as AgentDecision } from '../agent/decide/decision-builder.ts'
import { failCall } from '../agent/decide/endings.ts'
import { proceedCalls, settleOpenCalls } from '../agent/decide/proceed-calls.ts'
import { callsOf } from '../agent/state/state.ts'
import { planCalls } from '../agent/tasks/plan.ts'
import type { ExternalCommand, ExternalContext, ExternalFact } from './commands.ts'
import type { DecisionBuilder } from './decision-builder.ts'
import type { ExternalEventType } from './events.ts'
import { type ExternalState, nextAskId } from './state.ts'
import { actingAgent } from './tools.ts'

// Decisions on calls of keepup's tools by an external agent. The rules are those of keepup agents; the events are
// recorded in the stream of the external run.

type Fact<K extends ExternalFact['kind']> = Extract<ExternalFact, { kind: K }>
export type CallFact = Fact<
  | 'call'
  | 'calls_go_on'
  | 'call_left'
  | 'tool_succeeded'
  | 'tool_failed'
  | 'tool_in_doubt'
  | 'tool_changed'
  | 'files_changed'
>

/** Decides nothing unless the run is running: the calls end with the run. */
export function decideCalls(d: DecisionBuilder, state: ExternalState, fact: CallFact, context: ExternalContext): void {
  if (state.stage.at !== 'running' || state.tools === undefined) return
  switch (fact.kind) {
    case 'call':
      return ask(d, state, fact)
    case 'calls_go_on':
      return goOn(d, state, fact, context)
    case 'call_left':
      return leave(d, fact.toolCallId, context)
    default:
      return end(d, fact, context)
  }
}

/** Runs an agent's decisions on the calls of the run, and records the resulting events. */
function asAgent(
  d: DecisionBuilder,
  { paused = false, ...context }: ExternalContext & { readonly paused?: boolean },
  work: (agent: AgentDecision) => void,
): void {
  const acting = actingAgent(d.state!)
  if (acting === null) return
  const state = { ...acting, paused }
  const { agentId, runId } = state
  const driver = d.driver === undefined ? {} : { driver: d.driver }
  const agent = new AgentDecision(state, { agentId, runId, revision: d.revision }, { ...context, ...driver })
  work(agent)
  for (const { event } of agent.drafts) {
    const { toolCallId, actor } = event
    d.emit(event.type as ExternalEventType, event.body as never, {
      ...(toolCallId !== undefined && { toolCallId }),
      ...(actor.kind === 'approver' && { by: actor }),
    })
  }
}

/** Records the call with this number, planned like a call of a turn. */
function ask(
  d: DecisionBuilder,
  state: ExternalState,
  { index, name, arguments: args, paths, beyond }: Fact<'call'>,
): void {
  const { asked } = state.tools!
  if (index !== asked) return
  const requested = { block: 0, providerId: '', name, arguments: args, ...(beyond !== undefined && { beyond }) }
  const call = planCalls(actingAgent(state)!, [requested], [paths], null)[0]!
  const id = nextAskId(state)
  const block = { type: 'tool_use', id, name: call.askedName ?? call.toolName, input: args ?? {} }
  d.emit('tool_call_requested', { content: [block], calls: [call] }, { toolCallId: id })
}

/** The steps that need no request. A cancelled run starts no more calls. */
function goOn(
  d: DecisionBuilder,
  { cancelledAt }: ExternalState,
  { paused = false }: Fact<'calls_go_on'>,
  context: ExternalContext,
): void {
  asAgent(d, { ...context, paused }, (agent) => {
    if (cancelledAt !== null) settleOpenCalls(agent, 'CANCELLED', 'the agent was cancelled', false)
    else if (agent.drives) while (callsOf(agent.state).length > 0 && proceedCalls(agent));
  })
}

/**
 * Ends a call that the agent no longer waits for. A running call is aborted by its driver and ends with its outcome.
 */
function leave(d: DecisionBuilder, toolCallId: string, context: ExternalContext): void {
  asAgent(d, context, (agent) => {
    const call = callsOf(agent.state).find(({ id }) => id === toolCallId)
    if (call === undefined || call.stage.at === 'running') return
    failCall(agent, call, { code: 'CANCELLED', message: 'the agent that called did not wait for it' })
  })
}

type ToolFact = Exclude<CallFact, Fact<'call' | 'calls_go_on' | 'call_left'>>

/** Ignores outcomes of calls that have ended: the agent already has the result. */
function end(d: DecisionBuilder, fact: ToolFact, context: ExternalContext): void {
  asAgent(d, context, (agent) => {
    const call = callsOf(agent.state).find(({ id }) => id === fact.toolCallId)
    if (call?.attempt !== fact.attempt || call.stage.at !== 'running') return
    const { durationMs = 0 } = fact as { readonly durationMs?: number }
    // The approval applied to the earlier tool and files. An external agent must call again to ask for a new approval.
    if (fact.kind === 'tool_changed' || fact.kind === 'files_changed') {
      const message = `nothing was done: ${fact.reason}`
      return failCall(agent, call, { code: 'CONFLICT', message }, { durationMs })
    }
    decideToolFact(agent, fact)
    // The external agent does not wait for a person's decision on an unknown outcome, so the call fails now.
    const doubt = callsOf(agent.state).find(({ id, stage }) => id === call.id && stage.at === 'doubt')
    if (doubt !== undefined && fact.kind === 'tool_in_doubt')
      failCall(agent, doubt, { code: 'UNKNOWN_OUTCOME', message: `${fact.reason}; look before it is done again` })
  })
}

/** Records a person's decision on a waiting call. Throws the errors of a decision on a keepup agent's call. */
export function decideOutsideApproval(
  d: DecisionBuilder,
  { toolCallId, decision, questionHash, files, reason }: Extract<ExternalCommand, { kind: 'decide_permission' }>,
  context: ExternalContext,
): void {
  const given = {
    ...(questionHash !== undefined && { questionHash }),
    ...(files !== undefined && { files: [...files] }),
    ...(reason !== undefined && { reason }),
  }
  asAgent(d, context, (agent) => decideRequest(agent, { kind: 'decide_approval', toolCallId, decision, ...given }))
}

/**
 * Ends the open calls when the run ends. A call that may have run gets an unknown outcome. No call starts again,
 * because no agent waits for it.
 */
export function settleCalls(d: DecisionBuilder, why: string, context: ExternalContext): void {
  if ((d.state?.tools?.open.length ?? 0) === 0) return
  asAgent(d, context, (agent) => void settleOpenCalls(agent, 'CANCELLED', why, true))
}
