import { NO_OBLIGATIONS, rankOf } from '../courier/ledger.ts'
import { appendRoot, EMPTY_ROOT } from '../log/root.ts'
import { ImpossibleEvent } from '../stream/impossible.ts'
import { externalCourierAfter } from './courier.ts'
import type { ExternalEvent } from './events.ts'
import { evolveHosted } from './hosted/evolve.ts'
import { hostedOf, hostedRules } from './hosted/state.ts'
import type { Outcome } from './outcome.ts'
import { withSpans } from './reported/book.ts'
import {
  type ExternalEnd,
  type ExternalState,
  isReported,
  isRunOver,
  NO_PERMISSIONS,
  nextAskId,
  type PermissionRequest,
} from './state.ts'
import { isOfCall, NO_CALLS, withCallEvent, withRequest } from './tools.ts'

/** The state after an event. Throws ImpossibleEvent if the event cannot follow. */
export function evolveExternal(state: ExternalState | null, event: ExternalEvent): ExternalState {
  if (event.type === 'external_started') return started(state, event)
  if (state === null) throw new ImpossibleEvent(event, 'the run was not started')
  if (event.at < state.at) throw new ImpossibleEvent(event, 'it is older than the event before it')
  // An erasure leaves the state unchanged, so its events need no digest.
  if (event.type === 'residue' || event.type === 'erased') return state
  const courier = externalCourierAfter(state, event)
  if (courier === null) throw new ImpossibleEvent(event, 'no such obligation is open, or it was accepted before')
  if (event.type === 'delivered') return { ...state, courier, at: event.at }
  return { ...state, ...change(state, event), courier, at: event.at }
}

const NO_GATES: readonly string[] = []

type Follower = Exclude<ExternalEvent, { type: 'external_started' | 'delivered' | 'residue' | 'erased' }>

function change(state: ExternalState, event: Follower): Partial<ExternalState> {
  const { stage } = state
  const refuse = (why: string): never => {
    throw new ImpossibleEvent(event, why)
  }
  if (event.type === 'outcome_learned') {
    if (stage.at === 'ended' && isReported(state)) return { stage: { at: 'ended', outcome: endedOf(event.body) } }
    if (stage.at !== 'ended' || stage.outcome.kind !== 'unknown' || stage.outcome.learned)
      return refuse('the outcome is known')
    return { stage: { at: 'ended', outcome: { kind: 'unknown', learned: true } } }
  }
  if (event.type === 'spans_reported') {
    if (!isReported(state)) return refuse('the run has a process')
    const reported = withSpans(state.reported, event.body)
    if (reported === null) return refuse('a span has the number of another one')
    const events = appendRoot(state.events, event.bodyHash, event.body.spans.length)
    const running = { at: 'running', epoch: 0, since: event.at } as const
    const { session } = event.body
    return {
      ...{ reported, events, stage: stage.at === 'requested' ? running : stage },
      ...(session !== undefined && { sessionId: session.id ?? null }),
    }
  }
  const ofTranscript = event.type === 'transcript_mirrored' || event.type === 'transcript_deleted'
  if (ofTranscript || event.type === 'mirror_gap') return { hosted: evolveHosted(state, event) }
  if (isRunOver(state)) return refuse('the run has ended')
  switch (event.type) {
    case 'driver_claimed': {
      const { driverId: id, epoch } = event.body
      if (epoch !== (state.driver?.epoch ?? 0) + 1) return refuse(`epoch ${epoch} is not the next one`)
      return { driver: { id, epoch } }
    }
    case 'process_start': {
      const { epoch } = event.body
      if (stage.at !== 'requested') return refuse('the process was started before')
      if (epoch !== state.driver?.epoch) return refuse('another driver holds the run')
      return { stage: { at: 'running', epoch, since: event.at } }
    }
    case 'cancel_requested':
      if (state.cancelledAt !== null) return refuse('it was cancelled before')
      return { cancelledAt: event.at, commands: remembering(state, event.commandId) }
    case 'files_versioned':
      return {}
    case 'external_ended':
      if (stage.at === 'requested' && event.body.outcome !== 'cancelled' && event.body.outcome !== 'failed')
        return refuse('the process was not started')
      return { stage: { at: 'ended', outcome: endedOf(event.body) } }
  }
  if (stage.at !== 'running') return refuse('the process was not started')
  if (event.type === 'model_requested' || event.type === 'model_outcome') return { hosted: evolveHosted(state, event) }
  const { permissions } = state
  if (isOfCall(event)) {
    if (state.tools === undefined) return refuse('it reaches no tools')
    const tools = withCallEvent(state, state.tools, event)
    const person = event.type === 'approval_decided' || event.type === 'approval_supported'
    return person ? { tools, commands: remembering(state, event.commandId) } : { tools }
  }
  switch (event.type) {
    case 'agent_events': {
      const { first, events } = event.body
      if (first !== state.events.count) return refuse(`agent event ${state.events.count} comes next, not ${first}`)
      return { events: appendRoot(state.events, event.bodyHash, events.length) }
    }
    case 'session_known':
      return { sessionId: event.body.sessionId }
    case 'usage_reported':
      return { usage: event.body }
    case 'tool_call_requested': {
      const tools = withRequest(state, event)
      if (tools === null) return refuse('it reaches no such tool, or another call comes next')
      return { tools }
    }
    case 'permission_requested': {
      const { toolCallId } = event.body
      if (toolCallId !== nextAskId(state)) return refuse(`${nextAskId(state)} comes next, not ${toolCallId}`)
      const asked = { toolCallId, argumentsHash: event.bodyHash, askedAt: event.at, decision: null }
      return { permissions: { asked: permissions.asked + 1, last: [...permissions.last, asked] } }
    }
    case 'permission_decided': {
      const { toolCallId, decision } = event.body
      const open = permissions.last.find((one) => one.toolCallId === toolCallId)
      if (open?.decision !== null) return refuse('it waits for no decision')
      const last = permissions.last.map((one) => (one === open ? { ...one, decision } : one))
      return { permissions: { ...permissions, last: shortened(last) }, commands: remembering(state, event.commandId) }
    }
  }
}

function started(
  state: ExternalState | null,
  event: Extract<ExternalEvent, { type: 'external_started' }>,
): ExternalState {
  if (state !== null) throw new ImpossibleEvent(event, 'the run was started before')
  const { origin, parent, tools, hosting, continues } = event.body
  return {
    agentId: event.agentId,
    runId: event.runId,
    at: event.at,
    backend: event.body.backend,
    request: event.body.request,
    requestHash: event.bodyHash,
    commands: [event.commandId],
    driver: null,
    // The program that hosts an agent has started it.
    stage: hosting === undefined ? { at: 'requested' } : { at: 'running', epoch: 0, since: event.at },
    cancelledAt: null,
    events: EMPTY_ROOT,
    sessionId: null,
    usage: null,
    permissions: NO_PERMISSIONS,
    ...(tools !== undefined && {
      tools: { ...NO_CALLS, spec: tools.spec, hashSalt: tools.hashSalt ?? '' },
    }),
    ...(hosting !== undefined && {
      tools: { ...NO_CALLS, spec: hostedRules(hosting.policy), hashSalt: hosting.hashSalt ?? '' },
      hosted: hostedOf(hosting),
    }),
    ...(continues !== undefined && { continues }),
    reportsTo: origin?.stream ?? null,
    gates: parent?.gates ?? NO_GATES,
    courier: origin === undefined ? NO_OBLIGATIONS : { owed: {}, accepted: { [origin.stream]: rankOf(origin) } },
  }
}

/** The number of decided permissions in the state. The driver has read older decisions long ago. */
const KEPT_DECISIONS = 100
function shortened(last: readonly PermissionRequest[]): readonly PermissionRequest[] {
  const decided = last.filter(({ decision }) => decision !== null)
  const old = new Set(decided.slice(0, Math.max(0, decided.length - KEPT_DECISIONS)))
  return old.size === 0 ? last : last.filter((one) => !old.has(one))
}

/** The state keeps the commandId of the start and of the last requests, 8 in all. The stream has older ones. */
export const REMEMBERED_REQUESTS = 8
const remembering = ({ commands: [start, ...others] }: ExternalState, commandId: string): string[] => [
  start!,
  ...[...others, commandId].slice(1 - REMEMBERED_REQUESTS),
]

export function endedOf(outcome: Outcome): ExternalEnd {
  switch (outcome.outcome) {
    case 'exited':
      return { kind: 'exited', exit: outcome.exit, success: outcome.success }
    case 'unknown':
      return { kind: 'unknown', learned: false }
    default:
      return { kind: outcome.outcome, exit: outcome.exit }
  }
}
