import { DeliveryRefused } from '../calls/errors.ts'
import type { Artifact } from '../calls/events/event-parts.ts'
import type { Json } from '../log/json.ts'
import { idOf } from '../log/owner.ts'
import type { Amounts, Report, ReportedEnd } from '../tree/events.ts'
import type { MessageType } from '../tree/message-events.ts'
import type { AgentSpec, RoleBackend } from '../tree/spec.ts'
import type { Delivered, Origin } from './events.ts'
import { acceptedFrom, type Courier, lossesAt, obligationKey, rankOf } from './ledger.ts'

// The commands of the courier: each delivers one obligation to its target, or settles obligations in their source.

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
      readonly backend?: ChildBackend
    }
  | { readonly kind: 'deliver_reported_end'; readonly hash: string; readonly end: ReportedEnd }
  | { readonly kind: 'deliver_usage'; readonly report: Report }
  | { readonly kind: 'deliver_artifact'; readonly artifact: Artifact }
  | { readonly kind: 'deliver_request'; readonly want: Amounts }
  | { readonly kind: 'deliver_grant'; readonly request: number; readonly grant: Amounts }
  | { readonly kind: 'deliver_cancel'; readonly reason?: string; readonly deadlineMs: number }
  | { readonly kind: 'deliver_pause'; readonly reason?: string }
  | { readonly kind: 'deliver_resume' }
  | ({ readonly kind: 'deliver_message'; readonly message: BusMessage } & Sent)
  | ({ readonly kind: 'deliver_subscription'; readonly topic: string } & Sent)
  | ({ readonly kind: 'deliver_publication'; readonly topic: string; readonly payload: Json } & Sent)
)

export interface ChildBackend extends Omit<RoleBackend, 'levels' | 'takesTools'> {
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
export interface BusMessage {
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

/** Why an obligation is never accepted. `stays`, only for a message: the target still accepts other messages. */
export interface Bounce {
  readonly reason: string
  readonly stays?: true
}

export const asBounce = ({ code, message }: DeliveryRefused, delivery: Delivery): Bounce => ({
  reason: message,
  ...(code === 'BOUNCED' && 'runId' in delivery && { stays: true }),
})

/** A refused obligation as its source records it. `told`: the agent learns of it. */
export const bounceOf = (revision: number, told: boolean, refusal: Bounce) => ({ revision, told, ...refusal })

/**
 * Whether the delivery is new to its target; false: it was accepted before. Throws DeliveryRefused OUT_OF_ORDER if an
 * earlier obligation of the same source is missing.
 */
export function isNew(target: { readonly courier: Courier }, { origin, after }: Delivery): boolean {
  const accepted = acceptedFrom(target, origin.stream)
  const rank = rankOf(origin)
  if (rank <= accepted) return false
  // The last accepted delivery may belong to a part that the source has lost since.
  const follows = after === accepted || (after < accepted && lossesAt(rank) > lossesAt(accepted))
  if (follows) return true
  throw new DeliveryRefused(
    'OUT_OF_ORDER',
    `${obligationKey(origin)} follows ${after}, and ${accepted} was accepted last; deliver what is between them first`,
  )
}

export type SettleDelivery = { readonly kind: 'delivered' } & Settled

/** `told`: the agent's model is informed of the bounce. */
export type Settled = Omit<Delivered, 'bounced'> & {
  readonly bounced: readonly (Delivered['bounced'][number] & { readonly told: boolean })[]
}
