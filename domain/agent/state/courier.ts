import type { Origin } from '../../courier/events.ts'
import { acceptedFrom, type Courier, type Obligations, obligationKey, rankOf, settled } from '../../courier/ledger.ts'
import { agentStream, externalStream } from '../../log/ids.ts'
import { ImpossibleEvent } from '../../stream/impossible.ts'
import { isPerson } from '../../tree/message-events.ts'
import type { AgentEvent } from '../events/events.ts'

// The obligations of an agent to other streams.

interface Member {
  readonly spec: { readonly delegation?: unknown; readonly tools: readonly { readonly name: string }[] }
  readonly parent: { readonly agentId: string } | null
  /** The run id, which is also the root's agent id. */
  readonly runId: string
  readonly courier: Courier
}

const NONE: readonly string[] = []

/** The streams that an event is an obligation to. */
export function targetsOf({ parent, runId, spec }: Omit<Member, 'courier'>, event: AgentEvent): readonly string[] {
  switch (event.type) {
    case 'child_delegated':
      return [event.body.backend === undefined ? agentStream(event.body.childId) : externalStream(event.body.childId)]
    case 'cancel_forwarded':
      return [event.body.external === undefined ? agentStream(event.body.childId) : externalStream(event.body.childId)]
    case 'budget_granted':
    case 'pause_forwarded':
    case 'resume_forwarded':
      return [agentStream(event.body.childId)]
    case 'end_reported':
    case 'usage_reported':
    case 'budget_requested':
    case 'artifact_registered':
      return parent === null || spec.delegation === undefined ? NONE : [agentStream(parent.agentId)]
    case 'message_sent':
      return isPerson(event.body.to) ? NONE : [agentStream(event.body.to)]
    case 'topic_subscribed':
    case 'message_published':
      return [agentStream(runId)]
    case 'message_distributed':
      return event.body.to.map(agentStream)
    default:
      return NONE
  }
}

/** The event that this one was copied from; null: it originates in this stream. */
export const originOf = ({ body }: Pick<AgentEvent, 'body'>): Origin | null =>
  'origin' in body && body.origin !== undefined ? body.origin : null

export function courierAfter(state: Member, event: AgentEvent): Courier {
  const origin = originOf(event)
  if (event.type === 'loss_accepted') return afterLoss(state, event)
  const before = origin === null ? state.courier : accept(state, event, origin)
  if (event.type === 'delivered') return { ...state.courier, owed: settle(state, event) }
  const targets = targetsOf(state, event)
  if (targets.length === 0) return before
  const owed: Record<string, Obligations> = { ...before.owed }
  for (const target of targets) {
    const { accepted, from, last } = owed[target] ?? { accepted: -1, from: 0, last: -1 }
    owed[target] = { accepted, from: from <= last ? from : event.revision, last: event.revision }
  }
  return { ...before, owed }
}

function accept(state: Member, event: AgentEvent, origin: Origin): Courier {
  const { stream } = origin
  if (rankOf(origin) <= acceptedFrom(state, stream))
    throw new ImpossibleEvent(event, `${obligationKey(origin)} was accepted before`)
  return { ...state.courier, accepted: { ...state.courier.accepted, [stream]: rankOf(origin) } }
}

/** Whether the agent can create obligations: it belongs to a tree or can send messages. */
export const mayOwe = ({ delegation, tools }: Member['spec']): boolean =>
  delegation !== undefined || tools.some(({ name }) => name === 'send_message')

function afterLoss({ courier, spec }: Member, { revision }: AgentEvent): Courier {
  return mayOwe(spec) ? { ...courier, losses: [...(courier.losses ?? []), revision] } : courier
}

function settle(state: Member, event: Extract<AgentEvent, { type: 'delivered' }>): Courier['owed'] {
  const owed = settled(state, event.body)
  if (owed !== null) return owed
  throw new ImpossibleEvent(event, `nothing up to ${event.body.upTo} is owed to ${event.body.target}`)
}
