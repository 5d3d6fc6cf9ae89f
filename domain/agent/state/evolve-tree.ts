import type { Call, CallStage } from '../../calls/call.ts'
import { controlKind } from '../../calls/tools/tools.ts'
import { NO_OBLIGATIONS } from '../../courier/ledger.ts'
import { ImpossibleEvent } from '../../stream/impossible.ts'
import type { Amounts } from '../../tree/events.ts'
import {
  addReport,
  type BudgetRequest,
  type Child,
  eachKind,
  type Family,
  isNothing,
  NO_AMOUNTS,
  NO_FAMILY,
} from '../../tree/family.ts'
import type { AgentEvent, EventOf } from '../events/events.ts'
import { committed, free } from './budget-account.ts'
import { NO_MESSAGES, REQUEST_MS } from './message-bus.ts'
import { followsRecord } from './reuse-rules.ts'
import { type AgentState, activityOf, callsOf, LOST_KEPT, withActivity } from './state.ts'

// The fold of events between parent and child.

type Events = Extract<
  AgentEvent,
  {
    type:
      | 'child_delegated'
      | 'child_ended'
      | 'child_unreached'
      | 'child_usage'
      | 'child_artifact'
      | 'child_requested_budget'
      | 'budget_granted'
      | 'budget_requested'
      | 'budget_received'
      | 'cancel_forwarded'
      | 'pause_forwarded'
      | 'resume_forwarded'
      | 'end_reported'
      | 'usage_reported'
      | 'delivered'
  }
>

export function evolveTree(state: AgentState, event: Events): AgentState {
  const { family } = state
  const changed = (part: Partial<Family>): AgentState => ({ ...state, family: { ...family, ...part } })
  switch (event.type) {
    case 'child_delegated':
      return delegated(state, event)
    case 'child_ended': {
      const { childId, report } = event.body
      childOf(state, event, childId)
      const asks = family.asks.filter((ask) => ask.childId !== childId)
      return changed({ children: without(family, childId), asks, settled: addReport(family.settled, report) })
    }
    case 'child_unreached':
      return changed({ children: withChild(state, event, { unreached: true }) })
    case 'child_usage':
      return changed({ settled: addReport(family.settled, event.body.report) })
    case 'child_artifact': {
      const { type } = event.body.artifact
      const known = state.artifactTypes.includes(type)
      return known ? state : { ...state, artifactTypes: [...state.artifactTypes, type].sort() }
    }
    case 'child_requested_budget': {
      const { childId, want, origin } = event.body
      childOf(state, event, childId)
      return changed({ asks: [...family.asks, { childId, want, request: origin.revision }] })
    }
    case 'budget_granted': {
      const { childId, request, grant } = event.body
      const asks = family.asks.filter((ask) => ask.childId !== childId || ask.request !== request)
      if (asks.length === family.asks.length) throw new ImpossibleEvent(event, `${childId} has no such request`)
      const before = childOf(state, event, childId).grant
      const after = eachKind((kind) => (before[kind] === null ? null : before[kind] + grant[kind]))
      const children = withChild(state, event, { grant: { ...after, agents: before.agents + grant.agents } })
      return changed({ asks, children })
    }
    case 'budget_requested':
      return requested(state, event)
    case 'budget_received':
      return answered(state, event.body.request, event.body.grant, event)
    case 'cancel_forwarded':
      return changed({ children: withChild(state, event, { cancelled: true }) })
    case 'pause_forwarded':
    case 'resume_forwarded':
      childOf(state, event, event.body.childId)
      return state
    case 'end_reported':
      if (family.reported !== null) throw new ImpossibleEvent(event, 'the end was reported before')
      return changed({ reported: event.body.report })
    case 'usage_reported':
      if (family.reported === null) throw new ImpossibleEvent(event, 'the end was not reported')
      return changed({ reported: addReport(family.reported, event.body.report) })
    case 'delivered':
      return event.body.bounced.reduce((next, { revision }) => bounced(next, revision, event), state)
  }
}

/** Changes that other events make in the accounts of an agent that delegates. */
export function familyAfter(before: AgentState, next: AgentState, event: AgentEvent): Family {
  const { family } = next
  if (next.spec.delegation === undefined) return family
  switch (event.type) {
    case 'model_call_end': {
      const delegates = callsOf(next).some(
        ({ refused, toolName }) => refused === null && controlKind(next, toolName) === 'delegates',
      )
      return delegates ? { ...family, base: free(next) } : family
    }
    case 'turn_end':
      return family.base === null ? family : { ...family, base: null }
    case 'model_attempt_lost':
      // A run that follows the record asks no provider, so no late answer can arrive.
      if (followsRecord(before)) return family
      return { ...family, exposure: [...family.exposure.slice(1 - LOST_KEPT), exposedBy(before, event)] }
    case 'model_late': {
      const { turn, body } = event
      const exposure = family.exposure.filter((one) => one.turn !== turn || one.attempt !== body.attempt)
      return { ...family, exposure }
    }
    default:
      return family
  }
}

export const FORKED = { courier: NO_OBLIGATIONS, family: NO_FAMILY, bus: NO_MESSAGES }

/** The reserved amounts beyond the billed estimate. */
function exposedBy(before: AgentState, event: EventOf<'model_attempt_lost'>) {
  const activity = activityOf(before.machine)
  const model = activity?.status === 'THINKING' && activity.model.at === 'calling' ? activity.model : null
  const { usage, nanoDollars, attempt } = event.body
  const billed = usage.input + usage.output + usage.cacheRead + usage.cacheWrite
  const most = model === null ? 0 : model.estimate.input + model.estimate.maxOutput
  const money = (model?.estimate.nanoDollars ?? 0) - (nanoDollars ?? 0)
  return { turn: event.turn, attempt, tokens: Math.max(0, most - billed), nanoDollars: Math.max(0, money) }
}

function delegated(state: AgentState, event: EventOf<'child_delegated'>): AgentState {
  const { childId, grant, backend } = event.body
  const { family } = state
  if (family.children[childId] !== undefined) throw new ImpossibleEvent(event, `${childId} was born before`)
  const left = free(state)
  for (const kind of ['tokens', 'nanoDollars', 'agents'] as const) {
    const [given, rest] = [grant[kind], left[kind]]
    if (rest !== null && (given === null || given > rest))
      throw new ImpossibleEvent(event, `of ${kind} it has ${rest} to give, after ${committed(state)[kind]}`)
  }
  const toolCallId = event.toolCallId ?? ''
  const known = { toolCallId, since: event.revision, grant, cancelled: false, unreached: false }
  const child: Child = backend === undefined ? known : { ...known, external: true }
  const next = withStage(state, event, toolCallId, { at: 'child', childId })
  return { ...next, family: { ...family, children: { ...family.children, [childId]: child } } }
}

function requested(state: AgentState, event: EventOf<'budget_requested'>): AgentState {
  const { of } = event.body
  const request = event.revision
  const asked: BudgetRequest =
    of !== undefined
      ? { for: 'child', request, childId: of.childId, childRequest: of.request }
      : event.toolCallId === undefined
        ? { for: 'turn', request }
        : { for: 'call', request, toolCallId: event.toolCallId }
  const family = { ...state.family, asked: [...state.family.asked, asked] }
  const next = { ...state, family }
  return asked.for === 'call' ? withStage(next, event, asked.toolCallId, { at: 'budget', request }) : next
}

/** The parent's answer to a request; zeros: nothing was added. */
function answered(state: AgentState, request: number, grant: Amounts, event: AgentEvent): AgentState {
  const { family } = state
  const asked = family.asked.find((one) => one.request === request)
  const received = eachKind((kind) => family.received[kind] + grant[kind])
  const open = family.asked.filter((one) => one !== asked)
  const refused = family.refused || (asked?.for === 'turn' && isNothing(grant))
  const next = { ...state, family: { ...family, received, refused, asked: open } }
  if (asked?.for !== 'call') return next
  const call = callsOf(next).find(({ id }) => id === asked.toolCallId)
  if (call?.stage.at !== 'budget') return next
  const epoch = state.driver?.epoch ?? 0
  return withStage(next, event, call.id, { at: 'running', epoch, notBefore: event.at, probe: false, topUp: grant })
}

/** A bounced birth removes the child; a bounced budget request counts as an answer of zeros. */
function bounced(state: AgentState, revision: number, event: AgentEvent): AgentState {
  const { family } = state
  const unborn = Object.entries(family.children).find(([, { since }]) => since === revision)
  if (unborn !== undefined) return { ...state, family: { ...family, children: without(family, unborn[0]) } }
  const asked = family.asked.some(({ request }) => request === revision)
  return asked ? answered(state, revision, NO_AMOUNTS, event) : state
}

function childOf({ family }: AgentState, event: AgentEvent, childId: string): Child {
  const child = family.children[childId]
  if (child === undefined) throw new ImpossibleEvent(event, `${childId} is no child whose end is awaited`)
  return child
}

function withChild(
  state: AgentState,
  event: AgentEvent & { readonly body: { readonly childId: string } },
  change: Partial<Child>,
): Family['children'] {
  const { childId } = event.body
  return { ...state.family.children, [childId]: { ...childOf(state, event, childId), ...change } }
}

const without = ({ children }: Family, childId: string): Family['children'] =>
  Object.fromEntries(Object.entries(children).filter(([id]) => id !== childId))

/** Stages in which the end of an attempt may still be the end of its call. */
const AT_WORK: ReadonlySet<Call['stage']['at']> = new Set<Call['stage']['at']>([
  ...(['running', 'doubt', 'resolved', 'budget'] as const),
])

/** A request puts its call into the stage that waits for the reply. */
export function waitForReply(state: AgentState, event: EventOf<'message_sent'>): AgentState {
  if (event.body.type !== 'request') return state
  const stage = { at: 'reply', request: event.revision, until: event.at + REQUEST_MS } as const
  return withStage(state, event, event.toolCallId ?? '', stage)
}

function withStage(state: AgentState, event: AgentEvent, toolCallId: string, stage: CallStage): AgentState {
  const activity = activityOf(state.machine)
  if (activity?.status !== 'TOOL_WAIT') throw new ImpossibleEvent(event, 'no call is open')
  const index = activity.calls.findIndex(({ id }) => id === toolCallId)
  const call = activity.calls[index]
  if (call === undefined || !AT_WORK.has(call.stage.at))
    throw new ImpossibleEvent(event, `the call ${toolCallId} is not at work`)
  const calls = activity.calls.with(index, { ...call, since: event.revision, stage })
  return { ...state, machine: withActivity(state.machine, { status: 'TOOL_WAIT', calls }) }
}
