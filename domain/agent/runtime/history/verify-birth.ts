import { isStreamDamage } from '../../../log/damage.ts'
import type { Header } from '../../../log/envelope.ts'
import { idOf } from '../../../log/owner.ts'
import type { Stores } from '../../../stream/runtime/ports.ts'
import type { Problem } from '../../../stream/runtime/proof.ts'
import { agent } from '../../decide/aggregate.ts'
import type { Origin } from '../../events/tree.ts'

// A child is driven because its parent's stream says that it was born. A parent whose stream has lost that event, by a loss that
// was accepted, knows nothing of it: the child is an orphan.

/** Gathers what an agent's stream says of its own birth and end. */
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
      // The proof of the stream itself tells what is wrong with it.
    }
  }

  /** The problem of an orphan that has not ended: no process drives it. */
  async problems({ log }: Pick<Stores, 'log'>): Promise<Problem[]> {
    const { origin } = this
    if (origin === undefined || this.ended || (await stands(log, origin))) return []
    const message = `the agent is an orphan: the stream of its parent ${idOf(origin.stream)} has lost revision ${origin.revision}, by which it was started, so no process drives it; start its task anew`
    return [{ revision: 0, code: 'ORPHAN', message }]
  }
}

/** Does the parent's stream hold the birth? One that cannot be read is a problem of its own. */
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
