import type { Origin } from '../../../courier/events.ts'
import { isStreamDamage } from '../../../log/damage.ts'
import type { Header } from '../../../log/envelope.ts'
import { idOf } from '../../../log/owner.ts'
import type { Stores } from '../../../stream/runtime/ports.ts'
import type { ProofProblem } from '../../../stream/runtime/stream-proof.ts'
import { agent } from '../../decide/aggregate.ts'

// A child whose birth is missing in its parent's stream, after an accepted loss, is an orphan. No process drives it.

/** Collects the origin and end of a child from its own stream. */
export class Birth {
  private origin: Origin | undefined
  private ended = false

  readonly see = (header: Header, body: Uint8Array): void => {
    if (header.type === 'end_reported') this.ended = true
    if (header.type !== 'agent_started') return
    try {
      const born = agent.decode(header, body)
      this.origin = born.type === 'agent_started' ? born.body.origin : undefined
    } catch {
      // The verification of the stream itself reports the fault.
    }
  }

  async problems({ log }: Pick<Stores, 'log'>): Promise<ProofProblem[]> {
    const { origin } = this
    if (origin === undefined || this.ended || (await stands(log, origin))) return []
    const message = `the agent is an orphan: the stream of its parent ${idOf(origin.stream)} has lost revision ${origin.revision}, by which it was started, so no process drives it; start its task anew`
    return [{ revision: 0, code: 'ORPHAN', message }]
  }
}

/** Whether the parent's stream contains the birth. True for an unreadable stream, which is reported separately. */
async function stands(log: Stores['log'], { stream, revision, bodyHash }: Origin): Promise<boolean> {
  try {
    for await (const [event] of log.read(stream, { from: revision, limit: 1, bodies: false }))
      if (event !== undefined) return event.header.revision === revision && event.header.body.hash === bodyHash
    return false
  } catch (error) {
    if (isStreamDamage(error)) return true
    throw error
  }
}
