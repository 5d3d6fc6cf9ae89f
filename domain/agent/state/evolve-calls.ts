import type { Call } from '../../calls/call.ts'
import { failureKey } from '../../calls/call.ts'
import { type CallEvent, evolveCall, openedCall } from '../../calls/evolve-call.ts'
import { controlKind } from '../../calls/tools/tools.ts'
import { sha256, toolCallId } from '../../log/ids.ts'
import type { AppendRoot } from '../../log/root.ts'
import { ImpossibleEvent } from '../../stream/impossible.ts'
import type { AgentEvent, EventOf } from '../events/events.ts'
import { countsAsFailure, isViolation } from './failures.ts'
import { lossAfterCall } from './loss-rules.ts'
import {
  type AbandonedAttempt,
  type Activity,
  type AgentState,
  activityOf,
  callsOf,
  LOST_KEPT,
  withActivity,
} from './state.ts'

/** The events that change a call of the open turn. */
export type AgentCallEvent = Extract<AgentEvent, { type: CallEvent['type'] }>

export function openedCalls(state: AgentState, event: EventOf<'model_call_end'>): readonly Call[] {
  return event.body.calls.map((planned, index) =>
    openedCall(planned, toolCallId(event.agentId, event.turn, index), index, event.revision, state.at),
  )
}

export function evolveCalls(state: AgentState, event: AgentCallEvent): AgentState {
  const activity = activityOf(state.machine)
  if (activity?.status !== 'TOOL_WAIT') throw new ImpossibleEvent(event, 'no call is open')
  const index = activity.calls.findIndex((call) => call.id === event.toolCallId)
  const call = activity.calls[index]
  if (call === undefined) throw new ImpossibleEvent(event, `${event.toolCallId} is no call of this turn`)
  if (call.stage.at === 'ended') throw new ImpossibleEvent(event, `${event.toolCallId} has ended`)
  const calls = activity.calls.with(index, {
    ...evolveCall(call, event, state.driver?.epoch ?? 0, state.loss?.unlisted === true),
    since: event.revision,
  })
  const ended = event.type === 'tool_call_end' ? whatEnded(state, call, event) : {}
  const allIn = calls.every(({ stage }) => stage.at === 'ended')
  const next: Activity = allIn
    ? { status: 'OBSERVATION', outcome: 'calls', calls, ended: false }
    : { status: 'TOOL_WAIT', calls }
  const abandoned = givesUp(call, event)
    ? [...state.abandoned.slice(1 - LOST_KEPT), { toolCallId: call.id, attempt: call.attempt }]
    : state.abandoned
  return { ...state, ...ended, abandoned, machine: withActivity(state.machine, next) }
}

/** The spec after an approval was voided because the tool changed. */
export function toolChanged(state: AgentState, { bodyHash, toolCallId, body: { tool } }: EventOf<'approval_voided'>) {
  const name = callsOf(state).find(({ id }) => id === toolCallId)?.toolName
  if (tool === undefined) return state
  const tools = state.spec.tools.map((known) => (known.name === name ? { ...known, ...tool } : known))
  // The hash of later requests' inputs covers the changed tools through `specHash`.
  return { ...state, spec: { ...state.spec, tools }, specHash: sha256(`${state.specHash}${bodyHash}`) }
}

/** Whether this event abandons the running attempt before its outcome is known. */
function givesUp({ stage }: Call, event: AgentCallEvent): boolean {
  switch (event.type) {
    case 'tool_call_retry':
      return event.body.lost === true
    case 'tool_call_intent':
      return stage.at === 'resolved'
    case 'tool_call_end': {
      const code = event.body.error?.code
      if (code === 'UNKNOWN_OUTCOME') return true
      return stage.at === 'resolved' && (stage.decision === 'happened' || code === 'CANCELLED' || code === 'TIMEOUT')
    }
    default:
      return false
  }
}

export const withoutAbandoned = (
  state: AgentState,
  { toolCallId, body }: EventOf<'late_outcome'>,
): readonly AbandonedAttempt[] =>
  state.abandoned.filter((one) => one.toolCallId !== toolCallId || one.attempt !== body.attempt)

/**
 * Other members that the end of a call changes: documents, test result, calls with an unknown outcome, and the loss.
 */
function whatEnded(
  state: AgentState,
  call: Call,
  event: EventOf<'tool_call_end'>,
): Pick<AgentState, 'documents' | 'tested' | 'unresolved' | 'loss'> {
  const { body } = event
  const { documents, tested, unresolved } = state
  const doubtful = body.error?.code === 'UNKNOWN_OUTCOME' && call.stage.at !== 'resolved'
  return {
    documents: body.documents === undefined ? documents : { ...documents, ...body.documents },
    tested: body.tested ? { exitCode: body.tested.exitCode, tree: null, step: body.step } : tested,
    unresolved: doubtful ? [...unresolved, call.id] : unresolved,
    loss: lossAfterCall(state, call, event),
  }
}

/**
 * Judges a turn's calls in call order after all have ended, so that the order of arrival changes nothing. Results join
 * the messages, failures are remembered, and a call that may change something clears the remembered failures. `left`:
 * the hash that joins the messages for a call without a result.
 */
export function settleCalls(
  state: AgentState,
  calls: readonly Call[],
  append: AppendRoot,
  left: string | null = null,
): AgentState {
  if (calls.length === 0) return { ...state, violations: 0 }
  let { messages, failedCalls } = state
  let violated = false
  for (const call of calls) {
    if (call.stage.at !== 'ended') {
      if (left !== null) messages = append(messages, left)
      continue
    }
    messages = append(messages, call.stage.bodyHash)
    if (call.stage.ran && call.effect !== 'pure') failedCalls = []
    const key = failureKey(call.toolName, call.argumentsHash)
    const forgiven = call.since < state.forgivenAt
    const failed =
      call.stage.ran &&
      !call.stage.success &&
      countsAsFailure(controlKind(state, call.toolName), call.stage.code) &&
      !forgiven
    if (failed && !failedCalls.includes(key)) {
      failedCalls = [...failedCalls.slice(1 - REMEMBERED_FAILURES), key]
    }
    if (call.refused !== null && isViolation(call.refused)) violated = true
  }
  return { ...state, messages, failedCalls, violations: violated ? state.violations + 1 : 0 }
}

/** The most failed calls that are remembered while nothing changes. */
const REMEMBERED_FAILURES = 64
