import type { Decoding, StreamContext, StreamEvent } from '../../stream/aggregate.ts'
import type { Asking, Submitted, Submitting } from '../../stream/runtime/mailbox.ts'
import type { Delivery, SettleDelivery } from '../delivery-commands.ts'
import type { Origin } from '../events.ts'
import type { Courier } from '../ledger.ts'

/**
 * The target of a delivery. `after`: the rank of the last accepted obligation; `hash`: the chain hash of the delivered
 * event.
 */
export interface Destination {
  readonly stream: string
  readonly target: string
  readonly after: number
  readonly hash: string
}

/** The mailbox of a stream that sends or receives deliveries, for any aggregate. */
export interface Correspondent<Event extends StreamEvent = StreamEvent> {
  readonly agentId: string
  readonly stream: string
  readonly state: { readonly courier: Courier } | null
  readonly decoding: Decoding<Event>
  refresh(): Promise<boolean>
  submit(
    command: Delivery | SettleDelivery,
    asking: Asking<StreamContext>,
    options: Pick<Submitting<never>, 'fact' | 'retry'>,
  ): Promise<Submitted>
  /** The command that delivers an event of this stream; null: the event is no obligation to this target. */
  letterOf(event: Event, to: Destination): Delivery | null
  /** Whether the agent is informed if this obligation bounces. */
  tells(event: Event): boolean
  /** The event that delegated this agent, from the first event of its stream. */
  bornOf(first: Event): Origin | undefined
}
