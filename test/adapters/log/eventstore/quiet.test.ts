import { Readable } from 'node:stream'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { encode } from '../../../../adapters/eventstore/codec.ts'
import { Cursors } from '../../../../adapters/eventstore/cursor.ts'
import { Feed } from '../../../../adapters/eventstore/feed.ts'
import type { EventStoreLog } from '../../../../adapters/eventstore/log.ts'
import type { LogParts } from '../../../../adapters/eventstore/log-parts.ts'
import { Known } from '../../../../adapters/eventstore/seen-events.ts'
import type { RecordedEvent } from '../../../../domain/log/envelope.ts'
import { openLog, SHORT, standIn } from '../../../support/eventstore/logs.ts'
import type { StandIn } from '../../../support/eventstore/stand-in.ts'
import { collect, NEW, Sealer, type Tip, tipOf } from '../../../support/log/sealing.ts'
import { property } from '../../../support/property.ts'

// A quiet log beside others that write a lot into the same server.

let others = 0
/** Writes events of another program; returns the position of the first of the last 300. */
function noise(server: StandIn, count: number): number {
  const none = new Uint8Array()
  const event = () => ({ id: crypto.randomUUID(), type: 'noise', contentType: '', data: none, metadata: none })
  const stream = `other.agent-${others++}`
  server.store.append(stream, -1, Array.from({ length: count }, event))
  return server.store.events(stream)!.at(-300)?.position ?? 0
}

function writer(stream: string) {
  const sealer = new Sealer(stream)
  let tip: Tip = NEW
  return async (log: EventStoreLog) => {
    const batch = sealer.batch(stream, tip, [{}])
    await log.append(stream, tip.revision, batch)
    tip = tipOf(batch)
  }
}

test('foreign events are never fetched, and searched only once', async () => {
  const server = await standIn()
  const first = await openLog(server.url)
  await writer('agent-a')(first)
  const head = await first.headCursor()
  noise(server, 3000)
  // Also by a process that knows of nothing yet.
  for (const log of [first, await openLog(server.url)]) {
    const late = noise(server, 1000)
    const { sent } = server.asked
    expect(await log.headCursor()).toEqual(head)
    const { from, subscriptions } = server.asked
    expect(await collect(log.readAll(await log.headCursor()))).toEqual([])
    // Each makes sure that the log still is what it was.
    expect(server.asked.sent - sent).toBeLessThan(12)
    expect(server.asked.subscriptions).toBe(subscriptions + 2)
    expect(server.asked.from).toBeGreaterThan(late)
    expect(from).toBeLessThan(late)
  }
})

test('a server that looks for the last event for too long is asked another way', async () => {
  const server = await standIn()
  const log = await openLog(server.url)
  await writer('agent-a')(log)
  await log.close()
  server.switches.scansForEver = true
  const other = await openLog(server.url)
  const { hash } = (await collect(other.readAll(null))).at(-1)!
  expect(await (await openLog(server.url)).headCursor()).toMatchObject({ hash })
})

test('a young log on an old server: events before it are not searched', async () => {
  const server = await standIn()
  const late = noise(server, 1000)
  const log = await openLog(server.url)
  const write = writer('agent-a')
  await write(log)
  for (const reading of [log.readAll(null), log.subscribe(null, AbortSignal.timeout(100_000)), log.streams('agent-')]) {
    let found = 0
    for await (const page of reading) {
      found += page.length
      if (found > 1) break
    }
    expect(found).toBeGreaterThan(0)
    expect(server.asked.from).toBeGreaterThan(late)
  }
})

test('a follower of the log knows the end of the searched part', async () => {
  const server = await standIn()
  const log = await openLog(server.url)
  const stop = new AbortController()
  const following = collect(log.subscribe(null, stop.signal))
  await expect.poll(() => server.asked.subscriptions).toBe(1)
  const late = noise(server, 1000)
  await expect
    .poll(async () => {
      await log.headCursor()
      return server.asked.from
    })
    .toBeGreaterThan(late)
  stop.abort()
  await following
})

test('a reader of some streams learns nothing of the others', async () => {
  const server = await standIn()
  const [log, other] = await Promise.all([openLog(server.url), openLog(server.url)])
  await log.headCursor()
  await writer('agent-a')(other)
  noise(server, 1000)
  expect((await Array.fromAsync(log.streams('document-'))).flat()).toEqual([])
  expect(await log.headCursor()).toEqual(await other.headCursor())
})

test('a late report does not move the known part back', () => {
  const known = new Known()
  known.note({ position: 10, hash: 'ten' })
  known.note({ position: 5, hash: 'five' })
  expect(known.last).toEqual({ position: 10, hash: 'ten' })
  const looked = { after: 10, position: 20, id: 'x' }
  known.look(looked)
  const beyond = (position: number) => known.beyond({ position, hash: '' })
  expect([beyond(9), beyond(10), beyond(12), beyond(20)]).toEqual([null, looked, looked, null])
})

// A subscription from beyond the end of an older state is taken: it says that it has caught up, and gives what comes.
test.each([
  ['while no client is connected', async (server: StandIn) => server.kill()],
  [
    'after a silence',
    async (server: StandIn) => {
      server.freeze()
      await server.kill()
      server.thaw()
    },
  ],
])('an older state of the server that is put back %s is looked through again', async (_, end) => {
  const server = await standIn()
  const log = await openLog(server.url, { limits: { ...SHORT, silenceMs: 100 } })
  await writer('agent-a')(log)
  const before = server.store.copy()
  const stop = new AbortController()
  const heard: string[] = []
  const following = (async () => {
    for await (const page of log.subscribe(null, stop.signal)) heard.push(...page.map(({ id }) => id))
  })()
  noise(server, 3000)
  const head = await log.headCursor()
  expect(await log.headCursor()).toEqual(head)
  const { subscriptions } = server.asked
  // Until the follower too has begun where it had looked up to.
  await expect.poll(() => server.asked.subscriptions).toBeGreaterThan(subscriptions + 1)
  await end(server)
  server.restore(before)
  const theirs = new Sealer('b').batch('agent-b', NEW, [{}, {}])
  server.store.append('ns.agent-b', -1, theirs.map(encode))
  await server.start()
  expect(await log.headCursor()).toMatchObject({ hash: theirs[1]!.hash })
  expect(await collect(log.readAll(head))).toHaveLength(2)
  await expect.poll(() => heard).toHaveLength(4)
  stop.abort()
  await following
})

test('the searched part of a broken feed is not trusted: it may be of another state of the log', async () => {
  const known = new Known()
  const event = { id: 'x', streamId: 'other', position: { commit: 20n, prepare: 20n } }
  const place = { known, namespace: 'ns', limits: SHORT, connection: { read: async () => [{ event }] } }
  const cursors = new Cursors(place as unknown as LogParts, {} as RecordedEvent, 'log')
  const spot = { position: 10, hash: 'ten' }
  const { signal } = new AbortController()
  for (const broken of [true, false]) {
    expect(known.beyond(spot)).toBeNull()
    await cursors.learn(spot, { checkpoint: 20, broken } as Feed, signal)
  }
  expect(known.beyond(spot)).toEqual({ after: 10, position: 20, id: 'x' })
})

test('after a restore of an older state its last event is the head, however far the log was known', async () => {
  const server = await standIn()
  const log = await openLog(server.url)
  const write = writer('agent-a')
  await write(log)
  const older = await log.headCursor()
  const before = server.store.copy()
  await write(log)
  const newer = await log.headCursor()
  await server.kill()
  server.restore(before)
  await server.start()
  expect(await log.headCursor()).toEqual(older)
  expect(await log.headCursor()).toEqual(older)
  await expect(collect(log.readAll(newer))).rejects.toMatchObject({ code: 'CURSOR_MISMATCH' })
})

test('more of others at the end than are looked at at once does not hide the last event', async () => {
  const server = await standIn()
  const first = await openLog(server.url)
  await writer('agent-a')(first)
  const head = await first.headCursor()
  const none = new Uint8Array()
  // In the namespace, so that the server's filter lets them through.
  const event = () => ({ id: crypto.randomUUID(), type: 'noise', contentType: '', data: none, metadata: none })
  server.store.append('ns.other', -1, Array.from({ length: 700 }, event))
  expect(await (await openLog(server.url)).headCursor()).toEqual(head)
})

test('events that wait for the reader do not count as searched, though the server has searched further', async () => {
  const subscription = new Readable({ objectMode: true, read: () => undefined })
  let looked: (subscription: unknown, position: { commit: bigint }) => void = () => undefined
  const subscribeToAll = ({ filter }: { filter: { checkpointReached: typeof looked } }) => {
    looked = filter.checkpointReached
    return subscription
  }
  const held = { client: { subscribeToAll } } as unknown as ConstructorParameters<typeof Feed>[0]
  const feed = new Feed(held, 0, ['ns.'], { ...SHORT, callMs: 600_000 })
  const { signal } = new AbortController()
  for (let n = 0; n < 300; n++) subscription.push({})
  looked(subscription, { commit: 1000n })
  const taken: (readonly [number, number | null])[] = []
  while (taken.length < 2) {
    const { length } = await feed.page(signal)
    if (length > 0) taken.push([length, feed.checkpoint])
  }
  expect(taken).toEqual([
    [256, null],
    [44, 1000],
  ])
})

const ops = fc.constantFrom('write', 'write', 'read', 'noise', 'cut')
const plan = fc.array(fc.record({ op: ops, who: fc.nat(2), back: fc.nat(5) }), { minLength: 10, maxLength: 40 })

test('a read of the head and a read of the rest miss no acknowledged event', async () => {
  const server = await standIn()
  await fc.assert(
    fc.asyncProperty(plan, async (planned) => {
      const namespace = `q${others++}`
      const logs = await Promise.all([0, 1, 2].map(() => openLog(server.url, { namespace })))
      const writers = logs.map((_, who) => writer(`agent-${who}`))
      for (const { op, who, back } of planned) {
        const log = logs[who]!
        if (op === 'write') await writers[who]!(log)
        else if (op === 'noise') noise(server, 300)
        else if (op === 'cut') server.drop()
        else {
          const all = await collect(logs[(who + 1) % 3]!.readAll(null))
          expect(all).toHaveLength(server.store.all.filter(({ stream }) => stream.startsWith(`${namespace}.`)).length)
          expect(await log.headCursor()).toEqual(log.cursor(all.at(-1)!))
          const from = Math.max(all.length - 1 - back, 0)
          const rest = await collect(log.readAll(log.cursor(all[from]!)))
          expect(rest.map(({ id }) => id)).toEqual(all.slice(from + 1).map(({ id }) => id))
        }
      }
      await Promise.all(logs.map((log) => log.close()))
    }),
    property(8, { endOnFailure: true }),
  )
})
