import { messageId } from '../../log/ids.ts'
import { idOf } from '../../log/owner.ts'
import { instantText } from '../../shared/instant.ts'
import { echo } from '../../shared/issues.ts'
import type { BodyOf } from '../events/events.ts'
import type { Origin } from '../events/tree.ts'
import type { Delivery, Message } from '../rules/obligations.ts'
import { callWaitingFor, MAX_REQUESTS, MAX_TOPICS, subscribersOf, topicsOf, waitsForAnother } from '../state/bus.ts'
import { bouncedText, messageText } from '../state/bus-rules.ts'
import { type AgentState, isFinished } from '../state/state.ts'
import type { Settled } from './commands.ts'
import type { DecisionBuilder } from './decision-builder.ts'
import { endCall, failCall, lastingTurn } from './endings.ts'

// RuntimeMessageBus, its decisions: what an agent takes of messages that a courier brings, and what it tells their senders.

type Sent = Extract<Delivery, { readonly runId: string }>

/**
 * Why an agent that has not finished never takes a message, or null. An agent that itself waits takes no request: it could
 * not answer in time, and where each of several agents had taken a request before it sent its own, none waits for itself.
 */
export function whyNoMessage(state: AgentState, delivery: Sent, now: number): string | null {
  if (delivery.runId !== state.runId) return `${echo(state.agentId)} is an agent of another run`
  if (delivery.kind !== 'deliver_message') return whyNotRoot(state, delivery)
  if (delivery.message.type !== 'request') return null
  if (waitsForAnother(state)) return 'it waits for another agent itself and could not answer; ask again later'
  const open = state.bus.requests.filter(({ until }) => until > now).length
  return open < MAX_REQUESTS ? null : `${open} requests wait for its answer already; ask again later`
}

function whyNotRoot(state: AgentState, delivery: Sent): string | null {
  if (state.parent !== null) return `${echo(state.agentId)} is not the root of the run`
  const full = delivery.kind === 'deliver_subscription' && topicsOf(state.bus, senderOf(delivery.origin)) >= MAX_TOPICS
  return full ? `an agent hears at most ${MAX_TOPICS} topics` : null
}

const senderOf = ({ stream }: Origin) => idOf(stream)

export function takeMessage(d: DecisionBuilder, delivery: Sent): void {
  const { origin } = delivery
  const sentAt = instantText(delivery.sentAt)
  switch (delivery.kind) {
    case 'deliver_message':
      return receive(d, delivery.message, { origin, sentAt })
    case 'deliver_subscription':
      return d.emit('subscription_added', { origin, agentId: senderOf(origin), topic: delivery.topic })
    case 'deliver_publication': {
      const from = senderOf(origin)
      const { topic, payload } = delivery
      return distribute(d, { id: messageId(from, origin.revision), from, topic, payload, sentAt }, origin)
    }
  }
}

/** The root passes a publication on; where it hears the topic itself, it reads it at its own next turn. */
function distribute(
  d: DecisionBuilder,
  publication: Omit<BodyOf<'message_distributed'>, 'to' | 'origin'>,
  origin?: Origin,
): void {
  const { id, from, topic, payload, sentAt } = publication
  const hearers = subscribersOf(d.state.bus, topic, from)
  const to = hearers.filter((agentId) => agentId !== d.state.agentId)
  d.emit('message_distributed', { ...publication, to, ...(origin === undefined ? {} : { origin }) })
  if (to.length < hearers.length) receive(d, { id, from, type: 'event', topic, payload }, { sentAt })
}

/** Records a message. The answer to a request ends the call that waits for it. */
export function receive(
  d: DecisionBuilder,
  message: Message,
  how: { readonly origin?: Origin; readonly sentAt: string },
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
  for (const { revision, reason, type } of bounced) {
    if (type !== 'message_sent' || isFinished(d.state)) continue
    const id = messageId(d.state.agentId, revision)
    const call = callWaitingFor(d.state, id)
    const message = `the request to ${to} was not delivered: ${reason}`
    if (call !== undefined) failCall(d, call, { code: 'EXECUTION_FAILED', message, rule: 'bounced' })
    else d.emit('message_bounced', { id, to, reason, text: bouncedText(id, to, reason) })
  }
}

/** An agent that ends answers no request any more: in the same append it tells all that wait. */
export function refuseRequests(d: DecisionBuilder): void {
  if (d.drafts.length === 0 || !isFinished(d.state)) return
  for (const { id, from } of d.state.bus.requests) {
    const body = { to: from, type: 'response', payload: null, correlationId: id } as const
    d.emit('message_sent', { ...body, refused: 'the agent has finished' }, { turn: lastingTurn(d.state) })
  }
}
