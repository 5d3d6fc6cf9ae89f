import type { Origin } from '../../agent/events/tree.ts'
import type { Delivery } from '../../agent/rules/obligations.ts'
import { external } from '../../external/aggregate.ts'
import type { ExternalCommand, ExternalContext } from '../../external/commands.ts'
import { deliveryOf } from '../../external/courier.ts'
import type { ExternalEvent } from '../../external/events.ts'
import type { ExternalState } from '../../external/state.ts'
import { externalStream } from '../../log/ids.ts'
import type { Correspondent, Destination } from '../courier/correspondent.ts'
import { Mailbox } from '../stream/mailbox.ts'
import type { StreamPorts } from '../stream/ports.ts'
import { Snapshots } from '../stream/snapshots.ts'

/** A state of an external run is small and its stream has few events: it is folded anew, without snapshots. */
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
    return this.state === null ? null : deliveryOf(this.state, event, to)
  }

  /** Another agent is told nothing. */
  tells(): boolean {
    return false
  }

  bornOf(first: ExternalEvent): Origin | undefined {
    return first.type === 'external_started' ? first.body.origin : undefined
  }
}
