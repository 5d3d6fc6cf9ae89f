import { aggregateOf } from '../../../kinds.ts'
import { isStreamDamage } from '../../../log/damage.ts'
import { agentStream, externalStream } from '../../../log/ids.ts'
import type { Stores } from '../../../stream/runtime/ports.ts'
import { verifyStream } from '../../../stream/runtime/verify.ts'
import { agent } from '../../decide/aggregate.ts'
import type { Verification } from '../types.ts'
import { Birth } from './verify-birth.ts'
import { ReceivedEnds } from './verify-children.ts'

/**
 * Verifies an agent's stream (keepup's own or an external agent's), its birth in the parent's stream, and the recorded
 * ends of its children's streams. A fork's prefix is verified with its source; here only the link is checked.
 */
export async function verifyAgent(stores: Stores, agentId: string): Promise<Verification> {
  const other = externalStream(agentId)
  if (await exists(stores, other)) return { agentId, ...(await verifyStream(stores, aggregateOf(other), other)) }
  const [birth, children] = [new Birth(), new ReceivedEnds()]
  const proof = await verifyStream(stores, agent, agentStream(agentId), (...event) => {
    birth.see(...event)
    children.see(...event)
  })
  const kin = [...(await birth.problems(stores)), ...(await children.problems(stores))]
  const problems = [...proof.problems, ...kin].sort((a, b) => a.revision - b.revision)
  return { agentId, ...proof, ok: proof.ok && problems.length === 0, problems }
}

/** True for a damaged stream, because its verification reports the damage. */
async function exists({ log }: Stores, stream: string): Promise<boolean> {
  try {
    return (await log.head(stream)) !== null
  } catch (error) {
    if (isStreamDamage(error)) return true
    throw error
  }
}
