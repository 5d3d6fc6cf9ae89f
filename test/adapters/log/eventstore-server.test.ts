import { randomBytes } from 'node:crypto'
import { openEventStoreLog } from '../../../adapters/log-eventstore/open.ts'
import { eventLogContract } from '../../contracts/event-log.ts'
import { BEFORE } from '../../support/sealing.ts'

const connectionString = process.env.EVENTSTORE_URL!
eventLogContract({
  name: 'eventstore',
  open: () => openEventStoreLog({ connectionString, namespace: `t${randomBytes(6).toString('hex')}`, clock: BEFORE }),
  idempotence: 'hashes',
  erases: false,
})
