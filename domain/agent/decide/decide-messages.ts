import { messageId } from '../../log/ids.ts'
import { instantText } from '../../log/instant.ts'
import { echo } from '../../log/issues.ts'
import type { Json } from '../../log/json.ts'
import { idOf } from '../../log/owner.ts'
import type { BodyOf } from '../events/events.ts'
import type { Origin } from '../events/tree.ts'
import type { Delivery, Message } from '../rules/obligations.ts'
import { callWaitingFor, MAX_REQUESTS, subscribersOf, waitsForAnother } from '../state/bus.ts'
import { bouncedText, messageText, whyNoRoom } from '../state/bus-rules.ts'
import { nextLosses, placeOf } from '../state/courier.ts'
import { type AgentState, isFinished } from '../state/state.ts'
import type { Settled } from './commands.ts'
import type { DecisionBuilder } from './decision-builder.ts'
import { endCall, failCall, lastingTurn } from './endings.ts'

// RuntimeMessageBus, its decisions: what an agent takes of messages that a courier brings, and what it tells their senders.

type Sent = Extract<Delivery, { readonly runId: string }>

/**
 * Why an agent that has not finished never takes a message, or null. The reason must hold from then on: another courier may
 * bring the message later. One that was sent before the agent was born has bounced wherever it was brought in time.
 */
export function whyNoMessage(state: AgentState, delivery: Sent): string | null {
  if (delivery.runId !== state.runId) return `${echo(state.agentId)} is an agent of another run`
  if (delivery.owedAt <= (state.bus.born ?? -1)) return 'it was sent before there was such an agent; send it again'
  if (delivery.kind === 'deliver_message' || state.parent === null) return null
  return `${echo(state.agentId)} is not the root of the run`
}

/**
 * Why an agent answers no request now, or null. An agent that itself waits could not answer in time; and where each of several
 * agents had taken a request before it sent its own, none waits for itself.
 */
export function whyNoRequest(state: AgentState, now: number): string | null {
  if (waitsForAnother(state)) return 'it waits for another agent itself and could not answer; ask again later'
  const open = state.bus.requests.filter(({ until }) => until > now).length
  return open < MAX_REQUESTS ? null : `${open} requests wait for its answer already; ask again later`
}

/** Answers are always taken: there are as many as the agent has sent messages. */
function whyRefused({ state, context }: DecisionBuilder, { type, payload }: Message): string | null {
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

/** The root passes a publication on; where it hears the topic itself, it reads it at its own next turn. */
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

/** Records a message. The answer to a request ends the call that waits for it. `how.payload`: of a person's. */
export function receive(
  d: DecisionBuilder,
  message: Message,
  how: { readonly origin?: Origin; readonly sentAt: string; readonly payload?: Json },
): void {
  const { id, from, type, topic, correlationId, payload, refused } = message
  const about = { ...(topic === undefined ? {} : { topic }), ...(correlationId === undefined ? {} : { correlationId }) }
  const call = type === 'response' ? callWaitingFor(d.state, correlationId) : undefined
  const named = call === undefined ? {} : { toolCallId: call.id }
  d.emit('message_received', { ...how, id, from, type, ...about, text: messageText(message, payload) }, named)
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

/** Tells the sender of each message that will not be delivered: its waiting call, or its model at the next turn. */
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

/** An agent that ends answers no request any more: in the same append it tells all that wait. */
export function refuseRequests(d: DecisionBuilder): void {
  if (d.drafts.length === 0 || !isFinished(d.state)) return
  const turn = lastingTurn(d.state)
  for (const request of d.state.bus.requests) refuse(d, request, 'the agent has finished', undefined, { turn })
}

/**
 * Tells the sender of a request that it will not be answered. That the request was brought is on record by it, so that no
 * courier that comes later has it accepted.
 */
function refuse(
  d: DecisionBuilder,
  { id, from }: Pick<Message, 'id' | 'from'>,
  refused: string,
  origin?: Origin,
  about: { readonly turn?: number } = {},
): void {
  const body = { to: from, type: 'response', payload: null, correlationId: id, refused } as const
  d.emit('message_sent', { ...(origin && { origin }), ...nextLosses(d.state), ...body }, about)
}
