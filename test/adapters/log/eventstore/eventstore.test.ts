import { afterAll } from 'vitest'
import { openEventStoreLog } from '../../../../adapters/eventstore/open.ts'
import { eventLogContract } from '../../../contracts/event-log.ts'
import { StandIn } from '../../../support/eventstore/stand-in.ts'
import { BEFORE } from '../../../support/log/sealing.ts'

const server = await new StandIn().start()
afterAll(() => server.stop())

let logs = 0
eventLogContract({
  name: 'eventstore',
  open: () => openEventStoreLog({ connectionString: server.url, namespace: `n${logs++}`, clock: BEFORE }),
  idempotence: 'hashes',
  erases: false,
})
