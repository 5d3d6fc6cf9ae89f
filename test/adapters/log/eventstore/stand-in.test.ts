import { afterAll } from 'vitest'
import { filteredContract } from '../../../contracts/eventstore-filtered.ts'
import { persistentContract } from '../../../contracts/eventstore-persistent.ts'
import { serverContract } from '../../../contracts/eventstore-server.ts'
import { StandIn } from '../../../support/eventstore/stand-in.ts'

const server = await new StandIn().start()
afterAll(() => server.stop())

serverContract('stand-in', () => server.url)

filteredContract('stand-in', () => server.url)

persistentContract('stand-in', () => server.url)
