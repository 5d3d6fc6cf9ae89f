import { agent } from '../../../agent/decisions/aggregate.ts'
import { agentStream } from '../../../log/ids.ts'
import type { Stores } from '../../stream/ports.ts'
import { verifyStream } from '../../stream/verify.ts'
import type { Verification } from '../../types.ts'

/** Proves an agent's stream. A fork's prefix is proved with its source; here only its link is. */
export async function verifyAgent(stores: Stores, agentId: string): Promise<Verification> {
  return { agentId, ...(await verifyStream(stores, agent, agentStream(agentId))) }
}
