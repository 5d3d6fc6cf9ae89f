import { DeliveryRefused } from '../../calls/errors.ts'
import type { Header } from '../../log/envelope.ts'
import type { RuntimePorts } from '../../ports/runtime.ts'
import type { StreamContext } from '../../stream/aggregate.ts'
import type { Retry } from '../../stream/runtime/append-retry.ts'
import { damageIn } from '../../stream/runtime/damage.ts'
import { firstOf, history } from '../../stream/runtime/history.ts'
import type { Asking } from '../../stream/runtime/mailbox.ts'
import type { SettleDelivery } from '../delivery-commands.ts'
import { asBounce, type Bounce, bounceOf, type Delivery } from '../delivery-commands.ts'
import { acceptedFrom, firstBehind, obligationKey, rankOf, wasAccepted } from '../ledger.ts'
import type { Correspondent } from './correspondent.ts'

// The courier between streams (DESIGN, Flow: Between streams). It stores nothing: the source's state lists the owed
// deliveries, and the target's state lists the accepted ones. Any courier can therefore resume at any point, and two
// may deliver the same obligation.

const COURIER = { kind: 'courier', id: 'courier' } as const

/**
 * Delivers the obligations of `source` to `target` in order, and records the results in the source. Repeats deliveries
 * that the target lost in an accepted loss. The target does not record a repeated delivery again. Log errors are
 * retried under `retry`; rejects with the last error.
 */
export async function deliver(
  ports: RuntimePorts,
  source: Correspondent,
  target: Correspondent,
  retry: Retry,
): Promise<void> {
  await ports.mustBeWhole?.(target.agentId)
  const broken = await refreshed(target)
  const owed = source.state!.courier.owed[target.stream]
  if (owed === undefined) return
  let { from, accepted } = owed
  // The target lost events in an accepted loss: deliver those obligations again.
  const lost = target.state === null ? accepted : Math.min(accepted, acceptedFrom(target.state, source.stream))
  if (lost < accepted) [from, accepted] = [firstBehind(source.state!, lost), lost]
  else if (from > owed.last) return
  let upTo = -1
  for await (const page of history(ports, source.decoding, source.stream, { from, to: owed.last })) {
    for (const { event, recorded } of page) {
      const to = { stream: source.stream, target: target.stream, after: accepted, hash: recorded.hash }
      const command = source.letterOf(event, to)
      if (command === null) continue
      const refused = broken ?? (await refusal(ports, target, command, recorded.header, retry))
      if (refused === null) [accepted, upTo] = [rankOf(command.origin), event.revision]
      else {
        // Record a bounce before the next delivery. Otherwise the later rank in the target would make the bounced
        // delivery appear accepted.
        const again = wasAccepted(source.state!, owed, event.revision)
        const bounced = [bounceOf(event.revision, source.tells(event), refused)]
        await settle(source, target, { upTo: event.revision, accepted, bounced, again }, retry)
        upTo = -1
      }
    }
  }
  if (upTo >= 0) await settle(source, target, { upTo, accepted, bounced: [], again: false }, retry)
}

/** Refreshes the target. Returns a refusal if its stream is damaged. */
async function refreshed(target: Correspondent): Promise<Bounce | null> {
  try {
    await target.refresh()
    return null
  } catch (error) {
    if (damageIn(error) === null) throw error
    return { reason: `its stream cannot be read: ${(error as Error).message}` }
  }
}

/** Why the target refuses the delivery permanently; null: the target has recorded it. */
async function refusal(
  ports: RuntimePorts,
  target: Correspondent,
  command: Delivery,
  header: Header,
  retry: Retry,
): Promise<Bounce | null> {
  if (await isBornOtherwise(ports, target, command)) {
    const reason = `there is an agent ${target.agentId} already, of a delegation that this log has lost; look at it before you start another one`
    return { reason }
  }
  try {
    await target.submit(command, askingOf(command, header), { fact: true, retry })
    return null
  } catch (error) {
    if (!(error instanceof DeliveryRefused) || error.code === 'OUT_OF_ORDER') throw error
    return asBounce(error, command)
  }
}

/** After a loss, a parent may reuse the id of a child from the lost part of its stream. */
async function isBornOtherwise(
  ports: RuntimePorts,
  target: Correspondent,
  { kind, origin }: Delivery,
): Promise<boolean> {
  if (kind !== 'deliver_birth' || target.state === null) return false
  const first = await firstOf(ports, target.decoding, target.stream)
  const born = first === null ? undefined : target.bornOf(first)
  return born?.stream !== origin.stream || born.bodyHash !== origin.bodyHash
}

function askingOf({ origin }: Delivery, { correlationId, commandId, trace }: Header): Asking<StreamContext> {
  return {
    by: COURIER,
    commandId: obligationKey(origin),
    correlationId: correlationId ?? commandId,
    ...(trace === undefined ? {} : { trace }),
  }
}

interface Done {
  readonly upTo: number
  readonly accepted: number
  readonly bounced: SettleDelivery['bounced']
  /** The target had accepted the delivery before its loss and refuses it now. */
  readonly again: boolean
}

async function settle(source: Correspondent, target: Correspondent, done: Done, retry: Retry): Promise<void> {
  const { upTo, bounced, again } = done
  const command: SettleDelivery = {
    kind: 'delivered',
    target: target.stream,
    upTo,
    accepted: done.accepted < 0 ? null : done.accepted,
    bounced,
    ...(again ? { again } : {}),
  }
  const asking = { by: COURIER, commandId: `${again ? 'refused' : 'delivered'}:${target.stream}@${upTo}` }
  await source.submit(command, asking, { fact: true, retry })
}
