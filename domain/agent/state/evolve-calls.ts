import { sha256, toolCallId } from '../../log/ids.ts'
import { instantOf } from '../../log/instant.ts'
import type { AppendRoot } from '../../log/root.ts'
import type { AgentEvent, EventOf, PlannedCall } from '../events/events.ts'
import { controlKind } from './controls.ts'
import { countsAsFailure, isViolation } from './failures.ts'
import { ImpossibleEvent } from './impossible.ts'
import { lossAfterCall } from './loss-rules.ts'
import {
  type AbandonedAttempt,
  type Activity,
  type AgentState,
  activityOf,
  type Call,
  type CallStage,
  callsOf,
  LOST_KEPT,
  withActivity,
} from './state.ts'

export type CallEvent = Extract<
  AgentEvent,
  {
    type:
      | 'tool_call_start'
      | 'tool_call_intent'
      | 'tool_call_retry'
      | 'tool_call_unknown'
      | 'tool_call_resolved'
      | 'tool_call_end'
      | 'approval_requested'
      | 'approval_decided'
      | 'approval_expired'
      | 'approval_voided'
  }
>

export function openedCalls(state: AgentState, event: EventOf<'model_call_end'>): readonly Call[] {
  return event.body.calls.map((planned, index) =>
    openedCall(planned, toolCallId(event.agentId, event.turn, index), index, event.revision, state.at),
  )
}

/** The initial state of a planned call. `revision`: of the event that contains it. `at`: ms. */
export const openedCall = (planned: PlannedCall, id: string, index: number, revision: number, at: number): Call => ({
  id,
  index,
  argumentsRef: { revision, block: planned.block },
  toolName: planned.toolName,
  ...(planned.askedName === undefined ? {} : { askedName: planned.askedName }),
  argumentsHash: planned.argumentsHash,
  effect: planned.effect,
  reads: planned.reads,
  writes: planned.writes,
  refused: planned.refused ?? null,
  ...(planned.recorded === undefined ? {} : { recorded: planned.recorded }),
  ...(planned.permission === undefined ? {} : { permission: planned.permission }),
  started: false,
  attempt: 0,
  lost: 0,
  startedAt: at,
  since: revision,
  signatures: [],
  stage: { at: 'planned' },
})

export function evolveCall(state: AgentState, event: CallEvent): AgentState {
  const activity = activityOf(state.machine)
  if (activity?.status !== 'TOOL_WAIT') throw new ImpossibleEvent(event, 'no call is open')
  const index = activity.calls.findIndex((call) => call.id === event.toolCallId)
  const call = activity.calls[index]
  if (call === undefined) throw new ImpossibleEvent(event, `${event.toolCallId} is no call of this turn`)
  if (call.stage.at === 'ended') throw new ImpossibleEvent(event, `${event.toolCallId} has ended`)
  const calls = activity.calls.with(index, { ...changed(state, call, event), since: event.revision })
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
function givesUp({ stage }: Call, event: CallEvent): boolean {
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

function changed(state: AgentState, call: Call, event: CallEvent): Call {
  const epoch = state.driver?.epoch ?? 0
  const running = (notBefore: number, probe = false): CallStage => ({ at: 'running', epoch, notBefore, probe })
  switch (event.type) {
    case 'tool_call_start':
      if (call.started) throw new ImpossibleEvent(event, 'the call was started before')
      return {
        ...call,
        started: true,
        attempt: event.body.attempt,
        startedAt: event.at,
        effect: event.body.effect,
        ...(event.body.reused ? { reused: true } : {}),
        stage: event.body.intent ? running(event.at) : call.stage,
      }
    case 'tool_call_intent':
      if (call.stage.at !== 'approved' && call.stage.at !== 'resolved')
        throw new ImpossibleEvent(event, 'it was not approved')
      return { ...performed(call), attempt: event.body.attempt, stage: running(event.at) }
    case 'tool_call_retry': {
      if (call.stage.at !== 'running') throw new ImpossibleEvent(event, 'no attempt is open')
      const { lost = false, signature } = event.body
      return {
        ...call,
        attempt: event.body.attempt,
        lost: call.lost + (lost ? 1 : 0),
        signatures: signature === undefined ? call.signatures : [...call.signatures, signature],
        stage: running(event.at + event.body.delayMs, true),
      }
    }
    case 'tool_call_unknown':
      if (call.stage.at !== 'running' && !(state.loss?.unlisted && call.started))
        throw new ImpossibleEvent(event, 'no attempt is open')
      return { ...call, stage: { at: 'doubt' } }
    case 'tool_call_resolved':
      if (call.stage.at !== 'doubt') throw new ImpossibleEvent(event, 'its outcome is not in doubt')
      return {
        ...call,
        lost: call.lost + (event.body.decision === 'run' ? 1 : 0),
        stage: { at: 'resolved', decision: event.body.decision },
      }
    case 'approval_requested':
      return { ...call, stage: { at: 'approval', expiresAt: instantOf(event.body.expiresAt) } }
    case 'approval_decided':
      if (call.stage.at !== 'approval') throw new ImpossibleEvent(event, 'no approval is awaited')
      return {
        ...withoutFiles(call),
        ...(event.body.files === undefined ? {} : { approvedFiles: event.body.files }),
        stage:
          event.body.decision === 'approved' ? { at: 'approved' } : { at: 'rejected', reason: event.body.reason ?? '' },
      }
    case 'approval_expired':
      if (call.stage.at !== 'approval') throw new ImpossibleEvent(event, 'no approval is awaited')
      return call
    case 'approval_voided':
      // A tool may change while a person decides, or be found changed just before the call runs.
      if (call.stage.at !== 'running' && call.stage.at !== 'approval')
        throw new ImpossibleEvent(event, 'neither an attempt nor an approval is open')
      return {
        ...withoutFiles(call),
        attempt: event.body.attempt,
        lost: call.lost + 1,
        effect: event.body.tool?.effect ?? call.effect,
        stage: { at: 'approved' },
      }
    case 'tool_call_end':
      return {
        ...call,
        stage: {
          at: 'ended',
          success: event.body.success,
          code: event.body.error?.code ?? null,
          ran: call.attempt > 0 && call.stage.at !== 'planned' && !REFUSED_STAGES.has(call.stage.at),
          bodyHash: event.bodyHash,
        },
      }
  }
}

/** A person decided to run the call although the record contains an unknown outcome. */
const performed = ({ reused: _, ...call }: Call): Call => call

/** An approval applies only to the files that it was given for; a voided approval applies to none. */
const withoutFiles = ({ approvedFiles: _, ...call }: Call): Call => call

/** Stages from which a call ends without having run. */
const REFUSED_STAGES = new Set<CallStage['at']>(['planned', 'approval', 'approved', 'rejected'])

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

export const failureKey = (toolName: string, argumentsHash: string): string => `${toolName}:${argumentsHash}`
