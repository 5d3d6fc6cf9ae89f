import { endCall, failCall } from '../../calls/decide/endings.ts'
import type { BusMessage, Delivery, Settled } from '../../courier/delivery-commands.ts'
import type { Origin } from '../../courier/events.ts'
import { nextLosses, placeOf } from '../../courier/ledger.ts'
import { messageId } from '../../log/ids.ts'
import { instantText } from '../../log/instant.ts'
import { echo } from '../../log/issues.ts'
import type { Json } from '../../log/json.ts'
import { idOf } from '../../log/owner.ts'
import type { BodyOf } from '../events/events.ts'
import { bouncedText, busMessageText } from '../rules/message-text.ts'
import { callWaitingFor, MAX_REQUESTS, subscribersOf, waitsForAnother } from '../state/message-bus.ts'
import { whyNoRoom } from '../state/message-limits.ts'
import { type AgentState, isFinished } from '../state/state.ts'
import type { DecisionBuilder } from './decision-builder.ts'
import { lastingTurn } from './endings.ts'

// Decisions of the message bus (RuntimeMessageBus): accepts or refuses delivered messages and informs their senders.

type Sent = Extract<Delivery, { readonly runId: string }>

/**
 * Why a running agent never accepts a message, or null. The reason must stay true, because another courier may repeat
 * the delivery later. A message sent before the agent's birth bounces, as every earlier delivery of it did.
 */
export function whyNoMessage(state: AgentState, delivery: Sent): string | null {
  if (delivery.runId !== state.runId) return `${echo(state.agentId)} is an agent of another run`
  if (delivery.owedAt <= (state.bus.born ?? -1)) return 'it was sent before there was such an agent; send it again'
  if (delivery.kind === 'deliver_message' || state.parent === null) return null
  return `${echo(state.agentId)} is not the root of the run`
}

/**
 * Why an agent accepts no request now, or null. An agent that waits for another agent cannot answer in time. The rule
 * also prevents cycles of waits, because each agent accepts requests only before it sends its own.
 */
export function whyNoRequest(state: AgentState, now: number): string | null {
  if (waitsForAnother(state)) return 'it waits for another agent itself and could not answer; ask again later'
  const open = state.bus.requests.filter(({ until }) => until > now).length
  return open < MAX_REQUESTS ? null : `${open} requests wait for its answer already; ask again later`
}

/** Responses are always accepted: their number is bounded by the requests that the agent sent. */
function whyRefused({ state, context }: DecisionBuilder, { type, payload }: BusMessage): string | null {
  if (type === 'response') return null
  return (type === 'request' ? whyNoRequest(state, context.now) : null) ?? whyNoRoom(state, payload)
}

const senderOf = ({ stream }: Origin) => idOf(stream)

export function takeMessage(d: DecisionBuilder, delivery: Sent): void {
  const { origin } = delivery
  const sentAt = instantText(delivery.sentAt)
  switch (delivery.kind) {
    case 'deliver_message': {
      const { message } = delivery
      const refused = whyRefused(d, message)
      return refused === null ? receive(d, message, { origin, sentAt }) : refuse(d, message, refused, origin)
    }
    case 'deliver_subscription':
      return d.emit('subscription_added', { origin, agentId: senderOf(origin), topic: delivery.topic })
    case 'deliver_publication': {
      const from = senderOf(origin)
      const { topic, payload } = delivery
      return distribute(d, { id: messageId(from, origin), from, topic, payload, sentAt }, origin)
    }
  }
}

/** The root distributes a publication. If the root itself subscribes, it reads the publication at its next turn. */
export function distribute(
  d: DecisionBuilder,
  publication: Omit<BodyOf<'message_distributed'>, 'to' | 'origin'>,
  origin?: Origin,
): void {
  const { id, from, topic, payload, sentAt } = publication
  const hearers = subscribersOf(d.state.bus, topic, from)
  const to = hearers.filter((agentId) => agentId !== d.state.agentId)
  d.emit('message_distributed', { ...publication, to, ...(origin === undefined ? {} : { origin }) })
  if (to.length === hearers.length) return
  const refused = whyNoRoom(d.state, payload)
  if (refused === null) receive(d, { id, from, type: 'event', topic, payload }, { sentAt })
  else refuse(d, { id, from }, refused)
}

/**
 * Records a message. The response to an open request ends the waiting call. `how.payload`: only for a person's message.
 */
export function receive(
  d: DecisionBuilder,
  message: BusMessage,
  how: { readonly origin?: Origin; readonly sentAt: string; readonly payload?: Json },
): void {
  const { id, from, type, topic, correlationId, payload, refused } = message
  const about = { ...(topic === undefined ? {} : { topic }), ...(correlationId === undefined ? {} : { correlationId }) }
  const call = type === 'response' ? callWaitingFor(d.state, correlationId) : undefined
  const named = call === undefined ? {} : { toolCallId: call.id }
  d.emit('message_received', { ...how, id, from, type, ...about, text: busMessageText(message, payload) }, named)
  if (call === undefined) return
  const durationMs = d.context.now - call.startedAt
  if (refused === undefined) return endCall(d, call, { result: { content: { from, payload } }, durationMs })
  failCall(
    d,
    call,
    { code: 'EXECUTION_FAILED', message: `no answer comes: ${refused}`, rule: 'no_reply' },
    { durationMs },
  )
}

/** Informs the agent of each bounced message: its waiting call fails, or its model reads a note at the next turn. */
export function tellBounces(d: DecisionBuilder, { target, bounced }: Settled): void {
  const to = idOf(target)
  for (const { revision, reason, told } of bounced) {
    if (!told || isFinished(d.state)) continue
    const id = messageId(d.state.agentId, placeOf(d.state, revision))
    const call = callWaitingFor(d.state, id)
    const message = `the request to ${to} was not delivered: ${reason}`
    if (call !== undefined) failCall(d, call, { code: 'EXECUTION_FAILED', message, rule: 'bounced' })
    else d.emit('message_bounced', { id, to, reason, text: bouncedText(id, to, reason) })
  }
}

/** When an agent ends, it refuses all open requests in the same append. */
export function refuseRequests(d: DecisionBuilder): void {
  if (d.drafts.length === 0 || !isFinished(d.state)) return
  const turn = lastingTurn(d.state)
  for (const request of d.state.bus.requests) refuse(d, request, 'the agent has finished', undefined, { turn })
}

/** Refuses a request. The event also records the delivery, so that a later courier does not repeat it. */
function refuse(
  d: DecisionBuilder,
  { id, from }: Pick<BusMessage, 'id' | 'from'>,
  refused: string,
  origin?: Origin,
  about: { readonly turn?: number } = {},
): void {
  const body = { to: from, type: 'response', payload: null, correlationId: id, refused } as const
  d.emit('message_sent', { ...(origin && { origin }), ...nextLosses(d.state), ...body }, about)
}
