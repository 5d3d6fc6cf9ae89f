import { agent } from '../../../agent/decisions/aggregate.ts'
import { external } from '../../../external/aggregate.ts'
import { agentStream, externalStream } from '../../../log/ids.ts'
import type { Stores } from '../../stream/ports.ts'
import { verifyStream } from '../../stream/verify.ts'
import type { Verification } from '../../types.ts'

/** Proves an agent's stream, keepup's own or an external one's. A fork's prefix is proved with its source; here only its link is. */
export async function verifyAgent(stores: Stores, agentId: string): Promise<Verification> {
  const other = externalStream(agentId)
  const isExternal = (await stores.log.head(agentStream(agentId))) === null && (await stores.log.head(other)) !== null
  if (isExternal) return { agentId, ...(await verifyStream(stores, external, other)) }
  return { agentId, ...(await verifyStream(stores, agent, agentStream(agentId))) }
}
