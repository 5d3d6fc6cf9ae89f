import { expect, test } from 'vitest'
import { encode } from '../../../../adapters/eventstore/codec.ts'
import type { EventStoreLog } from '../../../../adapters/eventstore/log.ts'
import type { DamagedEvent } from '../../../../domain/log/damage.ts'
import type { SealedEvent } from '../../../../domain/log/envelope.ts'
import { code } from '../../../contracts/event-log-factory.ts'
import { openLog, standIn } from '../../../support/eventstore/logs.ts'
import type { StandIn } from '../../../support/eventstore/stand-in.ts'
import { Store } from '../../../support/eventstore/store.ts'
import { collect, NEW, Sealer, tipOf } from '../../../support/log/sealing.ts'

// Damage by operators and other programs is an error with its own code, and never a shorter log.

const stream = 'agent-a1'
const name = `ns.${stream}`

/** A log with five events in a stream. */
async function filled() {
  const server = await standIn()
  const log = await openLog(server.url)
  const sealer = new Sealer()
  const batch = sealer.batch(stream, NEW, [{}, {}, {}, {}, {}])
  await log.append(stream, -1, batch)
  return { server, log, sealer, batch, next: sealer.batch(stream, tipOf(batch), [{}]) }
}

const none = new Uint8Array()
const foreign = () => ({ id: crypto.randomUUID(), type: 'noted', contentType: 'x', data: none, metadata: none })
const asStored = (event: SealedEvent) => ({ ...foreign(), ...encode(event) }) as ReturnType<typeof foreign>

/** Also as one that has never seen the stream. */
async function both(log: EventStoreLog, server: StandIn, check: (log: EventStoreLog) => Promise<void>) {
  await check(log)
  await log.close()
  await check(await openLog(server.url))
}

test.each([
  ['deleted', (server: StandIn) => void server.store.delete(name, 'any', false)],
  ['tombstoned', (server: StandIn) => void server.store.delete(name, 'any', true)],
  ['truncated beyond its end', (server: StandIn) => server.store.setMetadata(name, { $tb: 9 })],
  ['emptied by age', (server: StandIn) => server.store.setMetadata(name, { $maxAge: 0 })],
])('a stream that was %s', async (_, damage) => {
  const { server, log, batch } = await filled()
  damage(server)
  await both(log, server, async (one) => {
    await expect(one.head(stream)).rejects.toEqual(code('LOG_CORRUPT'))
    await expect(collect(one.read(stream))).rejects.toEqual(code('LOG_CORRUPT'))
    await expect(collect(one.read(stream, { from: 5 }))).rejects.toEqual(code('LOG_CORRUPT'))
    // Also a resend of what was once written there.
    await expect(one.append(stream, -1, batch)).rejects.toEqual(code('LOG_CORRUPT'))
  })
})

test.each([{ $maxCount: 2 }, { $tb: 3 }])('a stream whose begin was cut off by %o', async (metadata) => {
  const { server, log, next } = await filled()
  server.store.setMetadata(name, metadata)
  await both(log, server, async (one) => {
    await expect(collect(one.read(stream))).rejects.toEqual(code('LOG_CORRUPT'))
    expect(await collect(one.read(stream, { from: 3 }))).toHaveLength(2)
  })
  const again = await openLog(server.url)
  await again.append(stream, 4, next)
})

test('a stream that is written to where it was deleted goes on with later revisions, which is found out', async () => {
  const { server, log } = await filled()
  await log.close()
  server.store.delete(name, 'any', false)
  const other = await openLog(server.url)
  const anew = new Sealer('anew').batch(stream, NEW, [{}])
  await expect(other.append(stream, -1, anew)).rejects.toEqual(code('LOG_CORRUPT'))
  await expect(collect(other.read(stream, { from: 5 }))).rejects.toEqual(code('LOG_CORRUPT'))
})

test('events of others in our streams', async () => {
  const { server, log, next } = await filled()
  server.store.append(name, 4, [foreign()])
  const given: number[] = []
  const reading = async () => {
    for await (const page of log.read(stream)) given.push(...page.map(({ header }) => header.revision))
  }
  await expect(reading()).rejects.toEqual(code('LOG_FOREIGN'))
  expect(given).toEqual([0, 1, 2, 3, 4])
  await expect(log.head(stream)).rejects.toEqual(code('LOG_FOREIGN'))
  await expect(collect(log.read(stream, { from: 5 }))).rejects.toEqual(code('LOG_FOREIGN'))
  await expect(log.append(stream, 4, next)).rejects.toEqual(code('LOG_FOREIGN'))
})

test('a follower of the whole log skips foreign events in the namespace, and reports each stream once', async () => {
  const { server, batch } = await filled()
  const told: string[] = []
  const log = await openLog(server.url, { warn: (text) => told.push(text) })
  const before = await log.headCursor()
  for (let n = 0; n < 3; n++) server.store.append('ns.test', n - 1, [foreign()])
  for (let n = 4; n < 20; n++) server.store.append(name, n, [foreign()])
  server.store.append('ns.agentx', -1, [foreign()])
  const head = await log.headCursor()
  expect(head).toEqual(before)
  expect(told).toEqual([
    expect.stringMatching(/^an event in ns\.test is passed over: it is no stream of keepup/),
    expect.stringMatching(
      /^an event in ns\.agent-a1 is passed over: event 5 of ns\.agent-a1 \(type noted\) was not written/,
    ),
    expect.stringMatching(/^an event in ns\.agentx is passed over/),
  ])
  // A process that starts looks back over them.
  await log.close()
  const again: string[] = []
  const other = await openLog(server.url, { warn: (text) => again.push(text) })
  expect(await other.headCursor()).toEqual(before)
  const sealer = new Sealer('later')
  const later = sealer.batch('document-b', NEW, [{}])
  await other.append('document-b', -1, later)
  server.store.delete('ns.test', 'any', true)
  const ours = [...batch, ...later].map(({ id }) => id)
  expect((await collect(other.readAll(null))).slice(1).map(({ id }) => id)).toEqual(ours)
  const heard: string[] = []
  for await (const page of other.subscribe(null, AbortSignal.timeout(100_000)))
    if (heard.push(...page.map(({ id }) => id)) > ours.length) break
  expect(heard.slice(1)).toEqual(ours)
  expect(await Array.fromAsync(other.streams('agent-'))).toEqual([[stream]])
  expect(again).toHaveLength(3)
})

test('the reports of foreign streams are bounded', async () => {
  const { server } = await filled()
  const told: string[] = []
  const log = await openLog(server.url, { warn: (text) => told.push(text) })
  for (let n = 0; n < 150; n++) server.store.append(`ns.stray${n}`, -1, [foreign()])
  await log.headCursor()
  expect(told).toHaveLength(100)
  expect(told.at(-1)).toMatch(/further streams are not named$/)
})

test('a read of the whole log skips a tombstoned stream of ours, and a read of the stream reports it', async () => {
  const { server, log, batch } = await filled()
  const before = await log.headCursor()
  server.store.delete(name, 'any', true)
  server.store.append('ns.agent-other', -1, [foreign()])
  // The server tells now and then how far it has looked.
  server.store.append('noise', -1, Array.from({ length: 1000 }, foreign))
  const told: DamagedEvent[] = []
  const other = await openLog(server.url)
  for (const one of [log, other]) {
    expect(await one.headCursor()).toEqual(before)
    expect(await collect(one.readAll(null))).toHaveLength(batch.length + 1)
    // Also where the log was looked through before.
    expect(await collect(one.readAll(before, { onDamage: (found) => told.push(found) }))).toEqual([])
  }
  const [tombstone, stray] = told
  expect(tombstone).toMatchObject({ stream, revision: null, code: 'TOMBSTONED', message: /tombstoned/ })
  expect(stray).toMatchObject({ stream: 'agent-other', revision: 0, type: 'noted', code: 'FOREIGN' })
  expect(stray!.position).toBeGreaterThan(tombstone!.position)
  expect(told.slice(2)).toEqual([tombstone, stray])
})

test.each([
  ['tombstoned', (server: StandIn) => void server.store.delete(name, 'any', true), ['TOMBSTONED']],
  ['deleted', (server: StandIn) => void server.store.delete(name, 'any', false), ['TRUNCATED']],
  ['truncated', (server: StandIn) => server.store.setMetadata(name, { $tb: 3 }), ['TRUNCATED']],
  ['written to by others', (server: StandIn) => void server.store.append(name, 4, [foreign()]), ['FOREIGN']],
])('a stream that was %s is read as the whole log gives it where its damage is heard', async (_, damage, expected) => {
  const { server, log, batch } = await filled()
  damage(server)
  const codes: string[] = []
  const onDamage = (found: DamagedEvent) => codes.push(found.code)
  const read = (from: number, limit?: number) =>
    collect(log.read(stream, { from, onDamage, ...(limit === undefined ? {} : { limit }) }))
  expect((await read(0)).map(({ id }) => id)).toEqual(batch.map(({ id }) => id))
  expect(codes).toEqual(expected)
  expect((await read(2, 2)).map(({ header }) => header.revision)).toEqual([2, 3])
})

test('a truncation that was undone leaves a whole stream', async () => {
  const { server, log } = await filled()
  const codes = async () => {
    const heard: string[] = []
    await collect(log.readAll(null, { onDamage: ({ code }) => heard.push(code) }))
    return heard
  }
  server.store.setMetadata(name, { $tb: 3 })
  server.store.setMetadata('ns.theirs', { $tb: 3 })
  expect(await codes()).toEqual(['TRUNCATED'])
  server.store.setMetadata(name, { $acl: {} })
  expect(await codes()).toEqual([])
})

test('a subscriber learns at once of damage behind the last event, and gets the events after it', async () => {
  const { server, log, sealer } = await filled()
  const stop = new AbortController()
  const heard: string[] = []
  const after = await log.headCursor()
  const pages = log.subscribe(after, stop.signal, { onDamage: ({ code }) => heard.push(code) })
  const first = pages.next()
  server.store.delete(name, 'any', true)
  expect((await first).value).toEqual([])
  expect(heard).toEqual(['TOMBSTONED'])
  const later = sealer.batch('agent-b', NEW, [{}])
  await log.append('agent-b', -1, later)
  for await (const page of pages) if (page.length > 0) break
  stop.abort()
})

test('events of a newer format, and events that were altered or moved', async () => {
  const { server, log, next } = await filled()
  const stored = asStored(next[0]!)
  const text = new TextDecoder().decode(stored.metadata)
  const cases = [
    ['LOG_NEWER', { ...stored, metadata: new TextEncoder().encode(text.replace('"format":1', '"format":2')) }],
    ['LOG_CORRUPT', { ...stored, data: new Uint8Array(3) }],
    ['LOG_CORRUPT', { ...stored, type: 'other' }],
    ['LOG_CORRUPT', { ...stored, id: crypto.randomUUID() }],
    ['LOG_CORRUPT', { ...stored, metadata: new TextEncoder().encode(text.replace('"revision":5', '"revision":6')) }],
    ['LOG_FOREIGN', { ...stored, metadata: new TextEncoder().encode('{"hash":"x"}') }],
    [
      'LOG_FOREIGN',
      { ...stored, metadata: new TextEncoder().encode(text.replace('"runId":"', `$&${'x'.repeat(257)}`)) },
    ],
  ] as const
  for (const [expected, event] of cases) {
    const to = `agent-${crypto.randomUUID()}`
    // At its own revision, in its own stream, but for the stream's other events.
    const as = {
      ...event,
      metadata: new TextEncoder().encode(new TextDecoder().decode(event.metadata).replaceAll(stream, to)),
    }
    for (let n = 0; n < 5; n++) server.store.append(`ns.${to}`, n - 1, [foreign()])
    server.store.append(`ns.${to}`, 4, [as])
    await expect(collect(log.read(to, { from: 5 })), expected).rejects.toEqual(code(expected))
  }
})

test('a foreign name is reported in one short line', async () => {
  const { server } = await filled()
  const told: string[] = []
  const log = await openLog(server.url, { warn: (text) => told.push(text) })
  const name = `agent-\u001b[31m\n2026-01-01 a line\u2028${'x'.repeat(3_000)}`
  server.store.append(`ns.${name}`, -1, [{ ...foreign(), type: 'a\r\nb' }])
  await log.headCursor()
  expect(told).toEqual([
    expect.stringMatching(/^an event in ns\.agent-·\[31m·2026-01-01 a line·x{1,100} is .*type a··b/),
  ])
})

test('a stream copied under another name is skipped, and reading it by that name is refused', async () => {
  const { server, batch } = await filled()
  const told: string[] = []
  const log = await openLog(server.url, { warn: (text) => told.push(text) })
  server.store.append('ns.agent-copy', -1, server.store.events(name)!)
  expect((await collect(log.readAll(null))).slice(1).map(({ id }) => id)).toEqual(batch.map(({ id }) => id))
  expect(told).toEqual([
    expect.stringMatching(/^an event in ns\.agent-copy is passed over: .* was copied from agent-a1/),
  ])
  await expect(collect(log.read('agent-copy'))).rejects.toEqual(code('LOG_FOREIGN'))
})

test('an answer that is larger than the client takes', async () => {
  const { server, log } = await filled()
  server.switches.huge = true
  await expect(log.head(stream)).rejects.toEqual(code('LOG_FOREIGN'))
})

test('positions that a number cannot hold, or whose halves differ, are refused', async () => {
  const { positionOf } = await import('../../../../adapters/eventstore/codec.ts')
  const at =
    (commit: bigint, prepare = commit) =>
    () =>
      positionOf({ streamId: name, position: { commit, prepare } })
  expect(at(2n ** 53n - 1n)()).toBe(Number.MAX_SAFE_INTEGER)
  expect(at(2n ** 53n)).toThrow(expect.objectContaining({ code: 'LOG_FOREIGN' }))
  expect(at(5n, 4n)).toThrow(expect.objectContaining({ code: 'LOG_FOREIGN' }))
})

test('on a server that lost the log a follower gets an error, and no cursor matches', async () => {
  const { server, log } = await filled()
  const cursor = await log.headCursor()
  const following = collect(log.subscribe(cursor, AbortSignal.timeout(100_000)))
  const anew = collect(log.subscribe(null, AbortSignal.timeout(100_000)))
  for (const one of [following, anew]) one.catch(() => undefined)
  await server.kill()
  server.restore(new Store())
  await server.start()
  await expect(following).rejects.toEqual(code('CURSOR_MISMATCH'))
  await expect(anew).rejects.toEqual(code('LOG_REPLACED'))
  await expect(collect(log.readAll(cursor))).rejects.toEqual(code('CURSOR_MISMATCH'))
  await expect(log.headCursor()).rejects.toEqual(code('LOG_REPLACED'))
})

test('on a server with another log in place of ours, no position of that log is returned as ours', async () => {
  const { server, log } = await filled()
  await log.headCursor()
  const other = await standIn()
  const theirs = await openLog(other.url)
  await theirs.append('agent-b', -1, new Sealer('theirs').batch('agent-b', NEW, [{}, {}]))
  await server.kill()
  server.restore(other.store)
  await server.start()
  await expect(log.headCursor()).rejects.toMatchObject({ code: 'LOG_REPLACED', message: /was replaced: .*; / })
})
