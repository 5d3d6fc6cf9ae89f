import { agentOf, runOf } from '../log/owner.ts'
import { codecOf } from '../stream/codec.ts'
import { type ExternalEvent, externalBodies, externalVersions } from './events.ts'

export const { reading, bodyFault } = codecOf<ExternalEvent>(
  { bodies: externalBodies, versions: externalVersions, claim: 'driver_claimed' },
  (header) => ({ turn: header.turn, agentId: agentOf(header), runId: runOf(header) }),
)
