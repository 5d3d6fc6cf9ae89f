import { agentStream, externalStream } from '../../log/ids.ts'
import type { EventLog } from '../../ports/index.ts'

/** The stream of a keepup agent or an external agent; null: the log has no stream for this id. */
export async function streamOfAgent(log: Pick<EventLog, 'read'>, agentId: string): Promise<string | null> {
  for (const stream of [agentStream(agentId), externalStream(agentId)])
    for await (const [first] of log.read(stream, { limit: 1, bodies: false })) if (first !== undefined) return stream
  return null
}
