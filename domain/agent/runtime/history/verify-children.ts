import { isStreamDamage } from '../../../log/damage.ts'
import type { Header, RecordedEvent } from '../../../log/envelope.ts'
import type { Stores } from '../../../stream/runtime/ports.ts'
import type { ProofProblem } from '../../../stream/runtime/stream-proof.ts'
import { agent } from '../../decide/aggregate.ts'
import type { EventOf } from '../../events/events.ts'

// A chain cannot detect the loss of its end. The parent records the end of each child's stream, which is compared here.

type Ended = EventOf<'child_ended'>

export class ReceivedEnds {
  readonly ends: Ended[] = []

  readonly see = (header: Header, body: Uint8Array): void => {
    if (header.type !== 'child_ended') return
    try {
      this.ends.push(agent.decode(header, body) as Ended)
    } catch {
      // The verification of the stream itself reports the fault.
    }
  }

  /** Children whose streams differ from the parent's record. `revision`: of the parent's event. */
  async problems({ log }: Pick<Stores, 'log'>): Promise<ProofProblem[]> {
    const found: ProofProblem[] = []
    for (const { revision, body } of this.ends) {
      const fault = await faultOf(log, body)
      if (fault !== null) found.push({ revision, code: 'CHILD', message: `the agent ${body.childId} ${fault}` })
    }
    return found
  }
}

const LOST = 'restore the log from a backup'

async function faultOf(log: Stores['log'], { head, origin }: Ended['body']): Promise<string | null> {
  const at = `revision ${head.revision}, where it was recorded to end`
  try {
    const end = await eventAt(log, origin.stream, head.revision)
    if (end === null) return `has no ${at}: ${LOST}`
    if (end.hash !== head.hash) return `has another event at ${at}: ${LOST}`
    const told = origin.revision === head.revision ? end : await eventAt(log, origin.stream, origin.revision)
    if (told?.header.body.hash !== origin.bodyHash) return `reported another end than was recorded: ${LOST}`
    return null
  } catch (error) {
    if (isStreamDamage(error)) return `cannot be read: ${error.message}`
    throw error
  }
}

async function eventAt(log: Stores['log'], stream: string, revision: number): Promise<RecordedEvent | null> {
  for await (const [event] of log.read(stream, { from: revision, limit: 1, bodies: false })) {
    if (event !== undefined) return event.header.revision === revision ? event : null
  }
  return null
}
