import { isStreamDamage } from '../../../../domain/log/damage.ts'
import type { EventLog } from '../../../../domain/ports/index.ts'

/** The revision and type of the last event of a stream. Null: the event is damaged, or the stream is empty. */
export async function lastOf(log: EventLog, stream: string): Promise<{ revision: number; type: string } | null> {
  try {
    const head = await log.head(stream)
    if (head === null) return null
    for await (const [event] of log.read(stream, { from: head.revision, limit: 1, bodies: false }))
      return event === undefined ? null : { revision: head.revision, type: event.header.type }
  } catch (error) {
    if (!isStreamDamage(error)) throw error
  }
  return null
}
