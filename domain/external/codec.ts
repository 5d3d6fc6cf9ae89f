import { agentOf, runOf } from '../log/owner.ts'
import { codecOf } from '../stream/codec.ts'
import { bodies, type ExternalEvent, versions } from './events.ts'

export const { reading, bodyFault } = codecOf<ExternalEvent>(
  { bodies, versions, claim: 'driver_claimed' },
  (header) => ({ turn: header.turn, agentId: agentOf(header), runId: runOf(header) }),
)
