import type { Call } from '../../calls/call.ts'
import { type Courier, placeOf } from '../../courier/ledger.ts'
import { messageId } from '../../log/ids.ts'
import { idOf } from '../../log/owner.ts'
import type { AgentEvent, EventOf } from '../events/events.ts'
import { openCalls, type StateMachine } from './machine.ts'

// An agent's view of the messages of its run: requests that it has to answer, and subscribers by topic. The root knows
// all subscriptions, another agent only its own.

/** Timeout of a request, ms. */
export const REQUEST_MS = 30_000
export const MAX_REQUESTS = 100
export const MAX_TOPICS = 32

export interface OpenRequest {
  readonly id: string
  readonly from: string
  /** When the sender stops waiting, ms. */
  readonly until: number
}

export interface Bus {
  /** Received requests without an answer. Expired ones are removed when the next request arrives. */
  readonly requests: readonly OpenRequest[]
  /** By topic: the subscribed agents in the order of subscription. The root knows all; another agent only itself. */
  readonly subscribers: Readonly<Record<string, readonly string[]>>
  /** When another agent started this one, ms; absent for a root. */
  readonly born?: number
}

export const NO_MESSAGES: Bus = { requests: [], subscribers: {} }

type Member = Acting & { readonly agentId: string; readonly courier: Courier }

interface Acting {
  readonly machine: StateMachine
}

/** The call that waits for the answer to a request; undefined: no call waits any more. */
export const callWaitingFor = (state: Member, request: string | undefined): Call | undefined =>
  openCalls(state.machine).find(
    ({ stage }) => stage.at === 'reply' && messageId(state.agentId, placeOf(state, stage.request)) === request,
  )

/** Whether the agent waits for another agent. It cannot answer requests until that wait ends. */
export const waitsForAnother = (state: Acting): boolean =>
  openCalls(state.machine).some(({ stage }) => stage.at === 'reply' || stage.at === 'child' || stage.at === 'budget')

/** The recipients of a publication: all subscribers except the sender. */
export const subscribersOf = ({ subscribers }: Bus, topic: string, from: string): readonly string[] =>
  (Object.hasOwn(subscribers, topic) ? subscribers[topic]! : []).filter((agentId) => agentId !== from)

export const topicsOf = ({ subscribers }: Bus, agentId: string): number =>
  Object.values(subscribers).filter((agents) => agents.includes(agentId)).length

export function busAfter(bus: Bus, event: AgentEvent): Bus {
  switch (event.type) {
    case 'message_received':
      return event.body.type === 'request' ? requested(bus, event) : bus
    case 'message_sent': {
      const { type, correlationId } = event.body
      return type === 'response' ? { ...bus, requests: bus.requests.filter(({ id }) => id !== correlationId) } : bus
    }
    case 'topic_subscribed':
      return subscribed(bus, event.body.topic, event.agentId)
    case 'subscription_added':
      return subscribed(bus, event.body.topic, event.body.agentId)
    case 'delivered':
      return event.body.bounced.some(({ stays }) => !stays) ? withoutSubscriber(bus, idOf(event.body.target)) : bus
    default:
      return bus
  }
}

function subscribed(bus: Bus, topic: string, agentId: string): Bus {
  const others = Object.hasOwn(bus.subscribers, topic) ? bus.subscribers[topic]! : []
  if (others.includes(agentId)) return bus
  return { ...bus, subscribers: { ...bus.subscribers, [topic]: [...others, agentId] } }
}

function requested(bus: Bus, { body, at }: EventOf<'message_received'>): Bus {
  const open = bus.requests.filter(({ until }) => until > at)
  return { ...bus, requests: [...open, { id: body.id, from: body.from, until: at + REQUEST_MS }] }
}

function withoutSubscriber(bus: Bus, agentId: string): Bus {
  if (topicsOf(bus, agentId) === 0) return bus
  const rest = Object.entries(bus.subscribers).map(([topic, agents]) => [topic, agents.filter((id) => id !== agentId)])
  return { ...bus, subscribers: Object.fromEntries(rest.filter(([, agents]) => agents!.length > 0)) }
}
