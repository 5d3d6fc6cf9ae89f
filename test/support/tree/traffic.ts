import { expect } from 'vitest'
import { messageId } from '../../../domain/log/ids.ts'
import { idOf } from '../../../domain/log/owner.ts'

/** The members of an event that show what happened to a message. */
interface Told {
  readonly type: string
  readonly revision: number
  readonly body: unknown
}

/** The body of a message event. */
interface Body {
  readonly id: string
  readonly from: string
  readonly to: string | readonly string[]
  readonly origin?: { readonly stream: string }
  readonly correlationId?: string
  readonly refused?: string
  readonly target: string
  readonly bounced: readonly { readonly revision: number; readonly reason: string }[]
}

/** The messages from each agent to each other agent, with their outcomes. Streams must have no losses. */
function traffic(streams: ReadonlyMap<string, readonly Told[]>) {
  const sent = new Map<string, string[]>()
  const received = new Map<string, string[]>()
  const bounced = new Map<string, string>()
  const add = (map: Map<string, string[]>, from: string, to: string, id: string) =>
    map.set(`${from} ${to}`, [...(map.get(`${from} ${to}`) ?? []), id])
  const bounce = (id: string, reason: string) => {
    expect(bounced.has(id), `${id} bounced twice`).toBe(false)
    bounced.set(id, reason)
  }
  for (const [agentId, events] of streams) {
    for (const event of events) {
      const body = event.body as Body
      if (event.type === 'message_sent') {
        add(sent, agentId, String(body.to), messageId(agentId, event))
        if (body.origin !== undefined) bounce(body.correlationId!, body.refused!)
      }
      if (event.type === 'message_distributed') for (const to of body.to) add(sent, agentId, to, `${body.id} ${to}`)
      if (event.type === 'message_received') {
        const through = idOf(body.origin!.stream)
        add(received, through, agentId, through === body.from ? body.id : `${body.id} ${agentId}`)
      }
      if (event.type === 'delivered')
        for (const { revision, reason } of body.bounced) {
          const of = events[revision]!
          const whole = of.type === 'message_distributed'
          bounce(whole ? `${(of.body as Body).id} ${idOf(body.target)}` : messageId(agentId, of), reason)
        }
    }
  }
  return { sent, received, bounced }
}

/** The number of bounced messages per reason. */
type Bounced = Readonly<Record<string, number>>

/** Checks that each message was delivered once and in order per pair, or bounced with a reason. Returns the numbers. */
export function expectDelivered(streams: ReadonlyMap<string, readonly Told[]>): { sent: number; bounced: Bounced } {
  const { sent, received, bounced } = traffic(streams)
  let count = 0
  for (const [pair, ids] of sent) {
    count += ids.length
    // Each in order and once; all missing ones have bounced.
    expect(received.get(pair) ?? [], pair).toEqual(ids.filter((id) => !bounced.has(id)))
  }
  for (const pair of received.keys()) expect(sent.has(pair), pair).toBe(true)
  for (const reason of bounced.values()) expect(reason).not.toBe('')
  const reasons = Object.groupBy(bounced.values(), (reason) => reason)
  return { sent: count, bounced: Object.fromEntries(Object.entries(reasons).map(([why, all]) => [why, all!.length])) }
}
