import type { SettleDelivery } from '../../agent/decide/commands.ts'
import type { Origin } from '../../agent/events/tree.ts'
import type { Delivery } from '../../agent/rules/obligations.ts'
import type { Courier } from '../../agent/state/courier.ts'
import type { Decoding, StreamContext, StreamEvent } from '../../stream/aggregate.ts'
import type { Asking, Submitted, Submitting } from '../../stream/runtime/mailbox.ts'

/** Where an obligation is to be delivered. `after`: the rank of the last one that was accepted; `hash`: of its sealed event. */
export interface Destination {
  readonly stream: string
  readonly target: string
  readonly after: number
  readonly hash: string
}

/** The mailbox of a stream between which and others the courier delivers, of whatever aggregate. */
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
  /** The command by which an event of this stream is delivered; null: it is no obligation to this target. */
  letterOf(event: Event, to: Destination): Delivery | null
  /** Is the agent told where this obligation bounces? */
  tells(event: Event): boolean
  /** The event by which another agent has started this one, by the first event of its stream. */
  bornOf(first: Event): Origin | undefined
}
