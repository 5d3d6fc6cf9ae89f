import fc from 'fast-check'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { openEventStoreLog } from '../../../adapters/eventstore/open.ts'
import { MemoryLog } from '../../../adapters/memory/log.ts'
import { openSqliteLog } from '../../../adapters/sqlite/log/open.ts'
import { document, documentStream } from '../../../domain/document/stream/aggregate.ts'
import type { EventLog } from '../../../domain/ports/index.ts'
import type { AppendPoint } from '../../../domain/stream/runtime/ports.ts'
import { verifyStream } from '../../../domain/stream/runtime/verify.ts'
import { interleaving, play } from '../../support/documents/interleaving.ts'
import {
  ANN,
  DocumentGateway,
  made,
  portsOver,
  replaceFirst,
  requestFor,
  textsOf,
  typesOf,
} from '../../support/documents/runtime.ts'
import { SHORT } from '../../support/eventstore/logs.ts'
import { StandIn } from '../../support/eventstore/stand-in.ts'
import { tempFolder } from '../../support/folders.ts'
import { BEFORE } from '../../support/log/sealing.ts'
import { property } from '../../support/property.ts'

const server = await new StandIn().start()
afterAll(() => server.stop())
let logs = 0

const BACK_ENDS: Readonly<Record<string, () => Promise<EventLog>>> = {
  memory: async () => new MemoryLog({ clock: BEFORE }),
  sqlite: () => openSqliteLog({ folder: tempFolder(), mode: 'owner', clock: BEFORE }),
  eventstore: () =>
    openEventStoreLog({ connectionString: server.url, namespace: `d${logs++}`, limits: SHORT, clock: BEFORE }),
}

test('any interleaving of envelopes and updates replays to one root on every back end', async () => {
  const seen = new Map<number, number>()
  await fc.assert(
    fc.asyncProperty(interleaving, async (steps) => {
      const outcomes = await Promise.all(
        Object.values(BACK_ENDS).map(async (open) => {
          const log = await open()
          return play(log, steps).finally(() => log.close())
        }),
      )
      const [first, ...others] = outcomes
      for (const other of others) expect(other).toEqual(first)
      const { answers, frontier, root, blocks, seen: views, verified } = first!
      expect(verified).toEqual({ ok: true, problems: [], frontier, root })
      const [another, fresh, person, mirror] = views
      expect([another, fresh]).toEqual([blocks, blocks])
      expect(person).toEqual(mirror)
      for (const status of answers) seen.set(status, (seen.get(status) ?? 0) + 1)
    }),
    property(8),
  )
  // The plans meet every kind of answer.
  expect([...seen.keys()].sort()).toEqual(expect.arrayContaining([200, 400]))
})

describe.each(Object.entries(BACK_ENDS))('a gateway over %s that dies', (name, open) => {
  const points: readonly AppendPoint[] = ['before_append', 'after_blobs', 'after_append']
  test.each(points)('%s leaves all of a request or nothing, and its repetition is applied once', async (point) => {
    const log = await open()
    onTestFinished(() => log.close())
    const ports = portsOver(log)
    const living = new DocumentGateway(ports)
    onTestFinished(() => living.close())
    const id = await made(living, '<p>one</p><p>two</p>')
    let died = false
    const dying = new DocumentGateway({
      ...ports,
      crashPoint: (at) => {
        if (at !== point) return
        died = true
        throw new Error(`dies ${point}`)
      },
    })
    // Large enough that its body is a blob, so that there is a boundary after the blobs.
    const text = `${name} ${'long '.repeat(20_000)}end`
    const request = await requestFor(living, id, 'r1', replaceFirst(text))
    const before = await typesOf(ports, id)
    await expect(dying.envelope(id, request, ANN)).rejects.toThrow(`dies ${point}`)
    expect(died).toBe(true)
    const both = ['envelope_received', 'document_updated']
    expect((await typesOf(ports, id)).slice(before.length)).toEqual(point === 'after_append' ? both : [])
    expect((await textsOf(living, id))[0]).toBe(point === 'after_append' ? text : 'one')

    // The same request again, to another process, and to the one that has failed but lives on.
    for (const gateway of [living, dying])
      expect(await gateway.envelope(id, request, ANN)).toMatchObject({ status: 200, body: { client_request_id: 'r1' } })
    expect((await typesOf(ports, id)).slice(before.length)).toEqual(both)
    expect(await textsOf(living, id)).toEqual([text, 'two'])
    expect(await verifyStream(ports, document, documentStream(id))).toMatchObject({ ok: true })
    await dying.close()
  })
})
