import { MemoryLog } from '../../../adapters/memory/log.ts'
import { eventLogContract } from '../../contracts/event-log.ts'
import { BEFORE } from '../../support/log/sealing.ts'

eventLogContract({
  name: 'memory',
  open: async () => new MemoryLog({ clock: BEFORE }),
  idempotence: 'ids',
  erases: true,
})
