import { codecOf } from '../../stream/codec.ts'
import { type AgentEvent, agentBodies, agentVersions, type EventType } from './events.ts'
import { upcasters } from './upcasters.ts'

export const isEventType = (type: string): type is EventType => Object.hasOwn(agentBodies, type)

export const { reading, decode, decodeKept, upcast, bodyFault } = codecOf<AgentEvent>(
  { bodies: agentBodies, versions: agentVersions, upcasters, claim: 'driver_claimed' },
  ({ turn, agentId, runId, body: { size } }) => ({ turn, agentId, runId, size }),
)
