import { codecOf } from '../../stream/codec.ts'
import { type AgentEvent, bodies, type EventType, versions } from './events.ts'
import { upcasters } from './upcasters.ts'

export const isEventType = (type: string): type is EventType => Object.hasOwn(bodies, type)

export const { reading, decode, decodeKept, upcast, bodyFault } = codecOf<AgentEvent>(
  { bodies, versions, upcasters, claim: 'driver_claimed' },
  ({ turn, agentId, runId, body: { size } }) => ({ turn, agentId, runId, size }),
)
