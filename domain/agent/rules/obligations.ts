import { DeliveryRefused } from '../../calls/errors.ts'
import { messageId } from '../../log/ids.ts'
import { instantOf } from '../../log/instant.ts'
import type { Json } from '../../log/json.ts'
import { idOf } from '../../log/owner.ts'
import type { AgentSpec, DelegableRole, RoleBackend } from '../definition/spec.ts'
import type { AgentEvent, Artifact, BodyOf } from '../events/events.ts'
import type { MessageType } from '../events/messages.ts'
import type { Amounts, Origin, Report } from '../events/tree.ts'
import { acceptedFrom, keyOf, lossesAt, placeOf, rankOf, targetsOf } from '../state/courier.ts'
import type { AgentState } from '../state/state.ts'
import { childSpec } from './child-spec.ts'
import { taskText } from './delegation.ts'

// The pure half of the courier: converts an obligation to the command for its target.

/** The child's identity. `depth`: 1 for a child of the root. */
export interface ChildBirth {
  readonly runId: string
  readonly depth: number
  readonly parent: { readonly agentId: string; readonly toolCallId: string; readonly ancestors: readonly string[] }
}

/** `after`: the rank of the last obligation of the same source that the target accepted; -1: none. */
export type Delivery = { readonly origin: Origin; readonly after: number } & (
  | {
      readonly kind: 'deliver_birth'
      readonly birth: ChildBirth
      /** Null: the source has no such role. */
      readonly spec: AgentSpec | null
      readonly task: string
      /** Only for an external agent. */
      readonly backend?: Backend
    }
  | { readonly kind: 'deliver_end'; readonly hash: string; readonly end: BodyOf<'end_reported'> }
  | { readonly kind: 'deliver_usage'; readonly report: Report }
  | { readonly kind: 'deliver_artifact'; readonly artifact: Artifact }
  | { readonly kind: 'deliver_request'; readonly want: Amounts }
  | { readonly kind: 'deliver_grant'; readonly request: number; readonly grant: Amounts }
  | { readonly kind: 'deliver_cancel'; readonly reason?: string; readonly deadlineMs: number }
  | { readonly kind: 'deliver_pause'; readonly reason?: string }
  | { readonly kind: 'deliver_resume' }
  | ({ readonly kind: 'deliver_message'; readonly message: Message } & Sent)
  | ({ readonly kind: 'deliver_subscription'; readonly topic: string } & Sent)
  | ({ readonly kind: 'deliver_publication'; readonly topic: string; readonly payload: Json } & Sent)
)

export interface Backend extends Omit<RoleBackend, 'levels' | 'takesTools'> {
  readonly role: string
  /** The keepup tools that it may call; absent: none. */
  readonly tools?: readonly string[] | undefined
  readonly extensions: Readonly<Record<string, Json>>
}

/** Members of messages, which never leave their run. `sentAt`, and `owedAt` of the obligation: ms. */
interface Sent {
  readonly runId: string
  readonly sentAt: number
  readonly owedAt: number
}

/** A message without its time. `refused`: why its request will not be answered. */
export interface Message {
  readonly id: string
  readonly from: string
  readonly type: MessageType
  readonly topic?: string | undefined
  readonly payload: Json
  readonly correlationId?: string | undefined
  readonly refused?: string | undefined
}

export const isDelivery = (command: { readonly kind: string }): command is Delivery =>
  command.kind.startsWith('deliver_')

export const senderOf = ({ origin }: Pick<Delivery, 'origin'>): string => idOf(origin.stream)

/** The command that delivers an event of `source`; null: no obligation to this target. `hash`: of the sealed event. */
export function deliveryOf(
  source: AgentState,
  event: AgentEvent,
  to: { readonly stream: string; readonly target: string; readonly after: number; readonly hash: string },
): Delivery | null {
  if (!targetsOf(source, event).includes(to.target)) return null
  const origin = { stream: to.stream, ...placeOf(source, event.revision), bodyHash: event.bodyHash }
  const head = { origin, after: to.after }
  const sent = { runId: source.runId, sentAt: event.at, owedAt: event.at }
  switch (event.type) {
    case 'child_delegated':
      return {
        ...head,
        kind: 'deliver_birth',
        birth: birthOf(source, event.toolCallId ?? ''),
        spec: childSpec(source.spec, event.body),
        task: taskText(event.body),
        ...backendOf(source.spec, event.body),
      }
    case 'end_reported':
      return { ...head, kind: 'deliver_end', hash: to.hash, end: event.body }
    case 'usage_reported':
      return { ...head, kind: 'deliver_usage', report: event.body.report }
    case 'artifact_registered':
      return { ...head, kind: 'deliver_artifact', artifact: event.body.artifact }
    case 'budget_requested':
      return { ...head, kind: 'deliver_request', want: event.body.want }
    case 'budget_granted':
      return { ...head, kind: 'deliver_grant', request: event.body.request, grant: event.body.grant }
    case 'cancel_forwarded': {
      const { reason, deadlineMs } = event.body
      return { ...head, kind: 'deliver_cancel', deadlineMs, ...(reason === undefined ? {} : { reason }) }
    }
    case 'pause_forwarded': {
      const { reason } = event.body
      return { ...head, kind: 'deliver_pause', ...(reason === undefined ? {} : { reason }) }
    }
    case 'resume_forwarded':
      return { ...head, kind: 'deliver_resume' }
    case 'message_sent': {
      const { to: _, origin: __, losses, ...about } = event.body
      const id = messageId(source.agentId, { revision: event.revision, losses })
      const message = { ...about, id, from: source.agentId }
      return { ...head, ...sent, kind: 'deliver_message', message }
    }
    case 'message_distributed': {
      const { id, from, topic, payload, sentAt } = event.body
      const message = { id, from, type: 'event', topic, payload } as const
      return { ...head, ...sent, sentAt: instantOf(sentAt), kind: 'deliver_message', message }
    }
    case 'topic_subscribed':
      return { ...head, ...sent, kind: 'deliver_subscription', topic: event.body.topic }
    case 'message_published':
      return { ...head, ...sent, kind: 'deliver_publication', topic: event.body.topic, payload: event.body.payload }
    default:
      return null
  }
}

/** Why an obligation is never accepted. `stays`, only for a message: the target still accepts other messages. */
export interface Refusal {
  readonly reason: string
  readonly stays?: true
}

export const refusalOf = ({ code, message }: DeliveryRefused, delivery: Delivery): Refusal => ({
  reason: message,
  ...(code === 'BOUNCED' && 'runId' in delivery && { stays: true }),
})

/** Whether the agent learns of a bounce of this obligation: only for its own messages, not for refusals. */
export const tellsOf = (event: AgentEvent): boolean => event.type === 'message_sent' && event.body.refused === undefined

/** A refused obligation as its source records it. `told`: the agent learns of it. */
export const bounceOf = (revision: number, told: boolean, refusal: Refusal) => ({ revision, told, ...refusal })

function backendOf({ delegation }: AgentSpec, { role, backend }: BodyOf<'child_delegated'>): { backend?: Backend } {
  if (backend === undefined) return {}
  const known = delegation?.backends?.[role as DelegableRole]
  const { levels: _, takesTools: __, ...about } = known ?? { capabilities: [], levels: [] }
  return { backend: { ...about, ...backend, role } }
}

/**
 * Whether the delivery is new to its target; false: it was accepted before. Throws DeliveryRefused OUT_OF_ORDER if an
 * earlier obligation of the same source is missing.
 */
export function isNew(target: Pick<AgentState, 'courier'>, { origin, after }: Delivery): boolean {
  const accepted = acceptedFrom(target, origin.stream)
  const rank = rankOf(origin)
  if (rank <= accepted) return false
  // The last accepted delivery may belong to a part that the source has lost since.
  const follows = after === accepted || (after < accepted && lossesAt(rank) > lossesAt(accepted))
  if (follows) return true
  throw new DeliveryRefused(
    'OUT_OF_ORDER',
    `${keyOf(origin)} follows ${after}, and ${accepted} was accepted last; deliver what is between them first`,
  )
}

function birthOf({ runId, agentId, depth, parent }: AgentState, toolCallId: string): ChildBirth {
  const ancestors = parent === null ? [] : [...(parent.ancestors ?? []), parent.agentId]
  return { runId, depth: depth + 1, parent: { agentId, toolCallId, ancestors } }
}
