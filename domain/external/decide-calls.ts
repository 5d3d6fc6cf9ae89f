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

// Decisions on calls of keepup's own tools by another agent: those of an agent of keepup's, recorded in the stream of the run.

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

/** Nothing is decided of a run that is not at work: its calls have ended with it. */
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

/** Does the work of an agent's decisions on the calls of the run, and records what they come to. */
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

/** The call with this number, judged as a call of a turn. */
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

/** The steps that follow by themselves. A run that is to end begins nothing more. */
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

/** The agent waits for this call no longer. What is at work is broken off, and ends with what is known of it. */
function leave(d: DecisionBuilder, toolCallId: string, context: ExternalContext): void {
  asAgent(d, context, (agent) => {
    const call = callsOf(agent.state).find(({ id }) => id === toolCallId)
    if (call === undefined || call.stage.at === 'running') return
    failCall(agent, call, { code: 'CANCELLED', message: 'the agent that called did not wait for it' })
  })
}

type ToolFact = Exclude<CallFact, Fact<'call' | 'calls_go_on' | 'call_left'>>

/** An outcome of a call that has ended since tells nothing: its agent was told before. */
function end(d: DecisionBuilder, fact: ToolFact, context: ExternalContext): void {
  asAgent(d, context, (agent) => {
    const call = callsOf(agent.state).find(({ id }) => id === fact.toolCallId)
    if (call?.attempt !== fact.attempt || call.stage.at !== 'running') return
    const { durationMs = 0 } = fact as { readonly durationMs?: number }
    // An approval was of the tool and the files as they were; an agent of another kind asks anew.
    if (fact.kind === 'tool_changed' || fact.kind === 'files_changed') {
      const message = `nothing was done: ${fact.reason}`
      return failCall(agent, call, { code: 'CONFLICT', message }, { durationMs })
    }
    decideToolFact(agent, fact)
    // Its agent goes on meanwhile, so that no person's decision could still be told to it.
    const doubt = callsOf(agent.state).find(({ id, stage }) => id === call.id && stage.at === 'doubt')
    if (doubt !== undefined && fact.kind === 'tool_in_doubt')
      failCall(agent, doubt, { code: 'UNKNOWN_OUTCOME', message: `${fact.reason}; look before it is done again` })
  })
}

/** A person's decision on a call that waits for it. Throws as a decision on a call of an agent of keepup's does. */
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
 * Ends the calls that are open where the run ends: one that may have happened, and whose end was not seen, is unknown. No one waits
 * for it any more, so that it is never begun again.
 */
export function settleCalls(d: DecisionBuilder, why: string, context: ExternalContext): void {
  if ((d.state?.tools?.open.length ?? 0) === 0) return
  asAgent(d, context, (agent) => void settleOpenCalls(agent, 'CANCELLED', why, true))
}
