import { randomBytes } from 'node:crypto'
import { describe, test } from 'vitest'
import { openEventStoreLog } from '../../../../adapters/eventstore/open.ts'
import { eventLogContract } from '../../../contracts/event-log.ts'
import { filteredContract } from '../../../contracts/eventstore-filtered.ts'
import { persistentContract } from '../../../contracts/eventstore-persistent.ts'
import { serverContract } from '../../../contracts/eventstore-server.ts'
import { BEFORE } from '../../../support/log/sealing.ts'

const connectionString = process.env.EVENTSTORE_URL ?? ''

describe.runIf(connectionString)('a real EventStoreDB', () => {
  eventLogContract({
    name: 'eventstore',
    open: () => openEventStoreLog({ connectionString, namespace: `t${randomBytes(6).toString('hex')}`, clock: BEFORE }),
    idempotence: 'hashes',
    erases: false,
  })
  serverContract('EventStoreDB', () => connectionString, { forgets: true })

  filteredContract('EventStoreDB', () => connectionString)

  persistentContract('EventStoreDB', () => connectionString)
})

test.runIf(!connectionString)('not run on a real server', () => {
  console.info('EventStoreDB: not run on a real server; set EVENTSTORE_URL=esdb://host:port?tls=false to do so')
})
