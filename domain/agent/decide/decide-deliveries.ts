import type { Call } from '../../calls/call.ts'
import { endCall, failCall } from '../../calls/decide/endings.ts'
import { CommandRejected, DeliveryRefused } from '../../calls/errors.ts'
import type { Settled } from '../../courier/delivery-commands.ts'
import { type Delivery, isNew, senderOf } from '../../courier/delivery-commands.ts'
import { acceptedFrom, settles } from '../../courier/ledger.ts'
import { hex } from '../../log/ids.ts'
import { echo } from '../../log/issues.ts'
import { NO_AMOUNTS } from '../../tree/family.ts'
import { admit } from '../rules/admission.ts'
import { failureOf, resultOf } from '../rules/delegation-text.ts'
import { type AgentState, callsOf, isFinished } from '../state/state.ts'
import { answerChildren, passedOn, passOn } from './decide-budgets.ts'
import { takeMessage, tellBounces, whyNoMessage } from './decide-messages.ts'
import type { DecisionBuilder } from './decision-builder.ts'
import { forwardPause, forwardResume, leaveChild } from './forward-to-children.ts'
import { settleCancel } from './proceed.ts'

// Deliveries of the courier, and their acknowledgements in the source stream. A repeated delivery changes nothing. A
// delivery that can never be accepted bounces; a delivery that arrives too early is refused.

type Of<K extends Delivery['kind']> = Extract<Delivery, { kind: K }>

const bounce = (reason: string) => new DeliveryRefused('BOUNCED', reason)
const gone = (reason: string) => new DeliveryRefused('GONE', reason)

export function decideDelivery(d: DecisionBuilder, state: AgentState | null, delivery: Delivery): void {
  if (state === null) {
    if (delivery.kind !== 'deliver_birth') throw gone('there is no such agent')
    return beBorn(d, delivery)
  }
  if (!isNew(state, delivery)) return
  if (isFinished(state) && !AT_ANY_TIME.has(delivery.kind)) throw gone('the agent has finished')
  const refusal = whyNever(state, delivery)
  if (refusal !== null) throw bounce(refusal)
  accept(d, delivery)
  if (d.state.cancel !== null) settleCancel(d)
}

/**
 * Deliveries that are accepted after the end: a child's usage is billed to all its ancestors, and a repeated birth must
 * not create a second agent.
 */
const AT_ANY_TIME: ReadonlySet<Delivery['kind']> = new Set<Delivery['kind']>([
  ...(['deliver_birth', 'deliver_reported_end', 'deliver_usage', 'deliver_artifact'] as const),
])
const OF_PARENT: ReadonlySet<Delivery['kind']> = new Set<Delivery['kind']>([
  ...(['deliver_grant', 'deliver_cancel', 'deliver_pause', 'deliver_resume'] as const),
])

/** Why an agent that accepts other deliveries never accepts this one, or null. */
function whyNever(state: AgentState, delivery: Delivery): string | null {
  const sender = senderOf(delivery)
  const { kind } = delivery
  if (kind === 'deliver_birth') return `an agent ${echo(state.agentId)} exists already`
  if ('runId' in delivery) return whyNoMessage(state, delivery)
  if (OF_PARENT.has(kind)) return state.parent?.agentId === sender ? null : `${echo(sender)} is not its parent`
  const open = state.family.children[sender] !== undefined
  if (kind === 'deliver_reported_end' || kind === 'deliver_request')
    return open ? null : `${echo(sender)} is not its child`
  return open || acceptedFrom(state, delivery.origin.stream) >= 0 ? null : `${echo(sender)} is not its child`
}

function beBorn(d: DecisionBuilder, { origin, spec, birth, task }: Of<'deliver_birth'>): void {
  if (spec === null) throw bounce('the parent has no such role')
  try {
    admit(spec)
  } catch (error) {
    if (error instanceof CommandRejected) throw bounce(error.message)
    throw error
  }
  const { depth, parent } = birth
  const born = { spec, depth, hashSalt: hex(d.context.salt()), drive: true, origin } as const
  d.emit('agent_started', { ...born, parent: { ...parent, ancestors: [...parent.ancestors] } })
  d.emit('user_input', { text: task })
}

function accept(d: DecisionBuilder, delivery: Delivery): void {
  const { origin } = delivery
  const childId = senderOf(delivery)
  switch (delivery.kind) {
    case 'deliver_birth':
      return
    case 'deliver_reported_end':
      return receiveEnd(d, delivery)
    case 'deliver_usage':
      return d.emit('child_usage', { origin, childId, report: delivery.report })
    case 'deliver_artifact':
      return d.emit('child_artifact', { origin, childId, artifact: delivery.artifact })
    case 'deliver_request':
      d.emit('child_requested_budget', { origin, childId, want: delivery.want })
      return answerChildren(d)
    case 'deliver_grant': {
      const { request, grant } = delivery
      const asks = passedOn(d, (one) => one === request)
      d.emit('budget_received', { origin, request, grant })
      return passOn(d, asks, grant)
    }
    case 'deliver_cancel': {
      const { deadlineMs, reason } = delivery
      return d.emit('cancel_requested', { origin, deadlineMs, ...(reason === undefined ? {} : { reason }) })
    }
    case 'deliver_pause':
      d.emit('paused', { origin, ...(delivery.reason === undefined ? {} : { reason: delivery.reason }) })
      return forwardPause(d, delivery.reason)
    case 'deliver_resume':
      d.emit('resumed', { origin })
      return forwardResume(d)
    default:
      return takeMessage(d, delivery)
  }
}

const callOfChild = (d: DecisionBuilder, childId: string): Call | undefined =>
  callsOf(d.state).find(({ stage }) => stage.at === 'child' && stage.childId === childId)

function receiveEnd(d: DecisionBuilder, { origin, hash, end }: Of<'deliver_reported_end'>): void {
  const childId = senderOf({ origin })
  const call = callOfChild(d, childId)
  const toolCallId = d.state.family.children[childId]?.toolCallId
  const { status, code, report } = end
  const head = { revision: origin.revision, hash }
  const ended = { origin, childId, head, status, ...(code === undefined ? {} : { code }), report }
  d.emit('child_ended', ended, toolCallId === undefined ? {} : { toolCallId })
  if (call === undefined) return
  const durationMs = d.context.now - call.startedAt
  if (status === 'completed') endCall(d, call, { result: { content: resultOf(end) }, durationMs })
  else failCall(d, call, failureOf(end), { durationMs })
}

/** Records the delivery or bounce of obligations of this stream. Obligations settled before change nothing. */
export function decideDelivered(d: DecisionBuilder, body: Settled): void {
  if (!settles(d.state, body)) return
  const revisions = new Map(body.bounced.map(({ revision, reason }) => [revision, reason]))
  const unborn = Object.entries(d.state.family.children).filter(([, { since }]) => revisions.has(since))
  const asks = passedOn(d, (request) => revisions.has(request))
  d.emit('delivered', { ...body, bounced: body.bounced.map(({ told: _, ...one }) => one) })
  tellBounces(d, body)
  passOn(d, asks, NO_AMOUNTS)
  for (const [childId, { since }] of unborn) {
    const call = callOfChild(d, childId)
    const message = `no agent was started: ${revisions.get(since)}`
    if (call !== undefined) failCall(d, call, { code: 'EXECUTION_FAILED', message, rule: 'not_born' })
  }
  if (d.state.cancel !== null) settleCancel(d)
}

/** The child's stream cannot be read. Its call fails, and its grant stays reserved. */
export function decideChildLost(d: DecisionBuilder, { childId, reason }: { childId: string; reason: string }): void {
  if (isFinished(d.state)) return
  const call = callOfChild(d, childId)
  leaveChild(d, childId, reason)
  const message = `the agent ${childId} cannot be read: ${reason}`
  if (call !== undefined) failCall(d, call, { code: 'EXECUTION_FAILED', message, rule: 'child_unreadable' })
  if (d.state.cancel !== null) settleCancel(d)
}
