import type { Delivery } from '../../courier/delivery-commands.ts'
import type { Origin } from '../../courier/events.ts'
import type { Correspondent, Destination } from '../../courier/runtime/correspondent.ts'
import { externalStream } from '../../log/ids.ts'
import { Mailbox } from '../../stream/runtime/mailbox.ts'
import type { StreamPorts } from '../../stream/runtime/ports.ts'
import { Snapshots } from '../../stream/runtime/snapshots.ts'
import { external } from '../aggregate.ts'
import type { ExternalCommand, ExternalContext } from '../commands.ts'
import { externalDeliveryOf } from '../courier.ts'
import type { ExternalEvent } from '../events.ts'
import type { ExternalState } from '../state.ts'

/** The state is small and the stream is short, so loading folds all events and needs no snapshots. */
const NO_SNAPSHOTS = new Snapshots<ExternalState, ExternalEvent>(external, {
  members: [],
  keep: (state) => state,
  step: () => 0,
  whole: async () => null,
})

/** The mailbox of the stream of an external run. */
export class ExternalMailbox
  extends Mailbox<ExternalState, ExternalEvent, ExternalCommand, ExternalContext>
  implements Correspondent<ExternalEvent>
{
  readonly agentId: string
  readonly decoding = external

  constructor(agentId: string, { snapshots: _, ...ports }: StreamPorts) {
    super(external, NO_SNAPSHOTS, externalStream(agentId), ports)
    this.agentId = agentId
  }

  letterOf(event: ExternalEvent, to: Destination): Delivery | null {
    return this.state === null ? null : externalDeliveryOf(this.state, event, to)
  }

  /** An external agent is not informed of bounces. */
  tells(): boolean {
    return false
  }

  bornOf(first: ExternalEvent): Origin | undefined {
    return first.type === 'external_started' ? first.body.origin : undefined
  }
}
