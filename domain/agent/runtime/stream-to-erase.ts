import { external } from '../../external/aggregate.ts'
import { agentStream, externalStream } from '../../log/ids.ts'
import type { EventLog } from '../../ports/index.ts'
import type { Erasable } from '../../stream/runtime/erasure/types.ts'
import { streamOfAgent } from '../../tree/runtime/stream-of-agent.ts'
import { agent } from '../decide/aggregate.ts'

/** The stream of a keepup agent or an external agent, with the part of its aggregate that an erasure needs. */
export async function streamToErase(
  log: Pick<EventLog, 'read'>,
  agentId: string,
): Promise<{ readonly aggregate: Erasable; readonly stream: string }> {
  const stream = externalStream(agentId)
  if ((await streamOfAgent(log, agentId)) === stream) return { aggregate: external, stream }
  return { aggregate: agent, stream: agentStream(agentId) }
}
