import { expect, onTestFinished, test, vi } from 'vitest'
import { MemoryLog } from '../../../adapters/memory/log.ts'
import { documentStream } from '../../../domain/document/stream/aggregate.ts'
import { Person } from '../../support/documents/person.ts'
import {
  ANN,
  BOB,
  DocumentGateway,
  made,
  portsOver,
  replaceFirst,
  requestFor,
} from '../../support/documents/runtime.ts'
import { BEFORE } from '../../support/log/sealing.ts'

const HEAD = Number.MAX_SAFE_INTEGER

test('blame reads the stream once, then what has come since, and says the same as one that reads all of it', async () => {
  const log = new MemoryLog({ clock: BEFORE })
  const ports = portsOver(log)
  const open = () => {
    const gateway = new DocumentGateway(ports)
    onTestFinished(() => gateway.close())
    return gateway
  }
  const gateway = open()
  const id = await made(gateway, '<p>Hello world</p><p>two</p>')
  const bob = new Person('77', (await gateway.snapshot(id)).bytes)
  await gateway.import(
    id,
    bob.change(() => bob.text(0).insert(5, ' big')),
    BOB,
  )
  const early = await gateway.history.blame(id, HEAD)
  await gateway.envelope(id, await requestFor(gateway, id, 'r1', replaceFirst('Hello big planet')), ANN)
  const reads = vi.spyOn(log, 'read')
  const late = await gateway.history.blame(id, HEAD)
  // An entry is read with the event before it.
  const long = reads.mock.calls.filter(([stream, { limit = HEAD } = {}]) => stream === documentStream(id) && limit > 2)
  // The replica is opened from the beginning, because there is no snapshot of it yet. One read has all sources.
  expect(long.map(([, { from } = {}]) => from)).toEqual([0, 0])
  reads.mockRestore()
  expect(late).toEqual(await open().history.blame(id, HEAD))
  expect(late.sources.map(({ kind }) => kind)).toEqual(['created', 'imported', 'applied'])
  expect(await gateway.history.blame(id, early.revision)).toEqual(early)
})
