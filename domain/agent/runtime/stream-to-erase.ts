import { aggregateOf } from '../../kinds.ts'
import { agentStream } from '../../log/ids.ts'
import type { EventLog } from '../../ports/index.ts'
import type { Erasable } from '../../stream/runtime/erasure/types.ts'
import { streamOfAgent } from '../../tree/runtime/stream-of-agent.ts'

/** The stream of a keepup agent or an external agent, with the part of its aggregate that an erasure needs. */
export async function streamToErase(
  log: Pick<EventLog, 'read'>,
  agentId: string,
): Promise<{ readonly aggregate: Erasable; readonly stream: string }> {
  const stream = (await streamOfAgent(log, agentId)) ?? agentStream(agentId)
  return { aggregate: aggregateOf(stream), stream }
}
