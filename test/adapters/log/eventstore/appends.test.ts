import { binaryEvent, EventStoreDBClient } from '@eventstore/db-client'
import { expect, test } from 'vitest'
import { encode } from '../../../../adapters/eventstore/codec.ts'
import type { EventStoreLog } from '../../../../adapters/eventstore/log.ts'
import type { SealedEvent } from '../../../../domain/log/envelope.ts'
import { code } from '../../../contracts/event-log-factory.ts'
import { expectOnce, HASTY, openLog, standIn } from '../../../support/eventstore/logs.ts'
import type { StandIn } from '../../../support/eventstore/stand-in.ts'
import { erasedBody, NEW, Sealer, tipOf } from '../../../support/log/sealing.ts'

const stream = 'agent-a1'

/** Starts appends without waiting for them: chains of three over some streams. */
function many(log: EventStoreLog, streams: number, bytes = 10) {
  const sealer = new Sealer('many')
  const sent: SealedEvent[][] = []
  const calls: Promise<{ position: number }>[] = []
  for (let n = 0; n < streams; n++) {
    let tip = NEW
    for (let times = 0; times < 3; times++) {
      const batch = sealer.batch(`agent-m${n}`, tip, [{ body: 'x'.repeat(bytes) }, {}])
      calls.push(log.append(`agent-m${n}`, tip.revision, batch))
      sent.push(batch)
      tip = tipOf(batch)
    }
  }
  return { sent, calls }
}

test('an answer that is lost after the write: sent again by a new client, in the log once', async () => {
  const server = await standIn()
  const log = await openLog(server.url)
  const batch = new Sealer().batch(stream, NEW, [{}, {}])
  server.switches.holdAnswers()
  const before = server.asked.appends
  const appended = log.append(stream, -1, batch)
  await expect.poll(() => server.store.events(`ns.${stream}`)?.length).toBe(2)
  // Another writer appends meanwhile. The resend succeeds all the same, and returns its own revision.
  const theirs = new Sealer('theirs').batch(stream, tipOf(batch), [{}])
  server.store.append(`ns.${stream}`, 1, [
    { ...theirs[0]!, type: 'noted', contentType: '', data: new Uint8Array(), metadata: new Uint8Array() },
  ])
  // Sent at least once more: on a slow machine further resends may have come by now.
  await expect.poll(() => server.asked.appends).toBeGreaterThan(before + 1)
  server.switches.release()
  expect(await appended).toEqual({ position: server.store.events(`ns.${stream}`)![1]!.position })
  expect(server.store.events(`ns.${stream}`)).toHaveLength(3)
})

test('the end of another client’s appends, also on another server, does not fail ours', async () => {
  const [server, elsewhere] = [await standIn(), await standIn()]
  const log = await openLog(server.url, { limits: { callMs: 20_000 } })
  const foreign = EventStoreDBClient.connectionString(elsewhere.url)
  await foreign.appendToStream('theirs', binaryEvent({ type: 'noted', data: new Uint8Array() }))
  server.switches.holdAnswers()
  const before = server.asked.appends
  const appended = log.append(stream, -1, new Sealer().batch(stream, NEW, [{}]))
  await expect.poll(() => server.asked.appends).toBe(before + 1)
  await foreign.dispose()
  server.switches.release()
  await appended
  expect(server.asked.appends).toBe(before + 1)
})

test('answers that arrive after the end of their connection are dropped', async () => {
  const server = await standIn()
  const log = await openLog(server.url, { limits: { callMs: 300 } })
  const batch = new Sealer().batch(stream, NEW, [{}])
  server.switches.holdAnswers()
  const before = server.asked.appends
  const appended = log.append(stream, -1, batch)
  await expect.poll(() => server.asked.appends).toBeGreaterThan(before + 2)
  server.switches.release()
  await appended
  await log.append(stream, 0, new Sealer('more').batch(stream, tipOf(batch), [{}]))
  expect(server.store.events(`ns.${stream}`)).toHaveLength(2)
})

test.each([
  ['cut', async (server: StandIn) => server.drop()],
  [
    'killed and started again',
    async (server: StandIn) => {
      await server.kill()
      await server.start()
    },
  ],
])('connections that are %s under many appends lose none and repeat none', async (_, fault) => {
  const server = await standIn()
  const log = await openLog(server.url)
  const { sent, calls } = many(log, 20)
  await calls[4]
  await fault(server)
  await Promise.all(calls)
  await expectOnce(log, server, sent)
})

test('a server that hangs under more appends than its connection takes: all land once when it goes on', async () => {
  const server = await standIn()
  const log = await openLog(server.url)
  server.freeze()
  const { sent, calls } = many(log, 20, 150_000)
  const { accepted } = server
  await expect.poll(() => server.accepted).toBeGreaterThan(accepted + 2)
  server.thaw()
  await Promise.all(calls)
  await expectOnce(log, server, sent)
})

test('a server that takes calls and answers none is given up, and is asked again', async () => {
  const server = await standIn()
  const log = await openLog(server.url)
  server.switches.stalled = true
  const batch = new Sealer().batch(stream, NEW, [{}])
  const appended = log.append(stream, -1, batch)
  const head = log.head('agent-b')
  const { accepted } = server
  await expect.poll(() => server.accepted).toBeGreaterThan(accepted + 1)
  server.switches.stalled = false
  await appended
  expect(await head).toBeNull()
  await expectOnce(log, server, [batch])
})

test('a server that starts is waited for', async () => {
  const server = await standIn()
  const log = await openLog(server.url)
  const sealer = new Sealer()
  const before = sealer.batch('agent-before', NEW, [{}])
  await log.append('agent-before', -1, before)
  server.switches.notReady = true
  const { appends } = server.asked
  const batch = sealer.batch(stream, NEW, [{}])
  const appended = log.append(stream, -1, batch)
  await expect.poll(() => server.asked.appends).toBeGreaterThan(appends + 2)
  server.switches.notReady = false
  await appended
  await expectOnce(log, server, [before, batch])
})

test('a capability call that failed once does not stay failed', async () => {
  const server = await standIn()
  server.switches.featuresFail = true
  const opened = openLog(server.url)
  await expect.poll(() => server.asked.features).toBeGreaterThan(2)
  server.switches.featuresFail = false
  await (await opened).append(stream, -1, new Sealer().batch(stream, NEW, [{}]))
})

test('without an answer the append ends with its patience, and its outcome is unknown', async () => {
  const server = await standIn()
  const log = await openLog(server.url, { limits: HASTY })
  server.switches.stalled = true
  const batch = new Sealer().batch(stream, NEW, [{}])
  const refused = [log.append(stream, -1, batch), log.head(stream)]
  await Promise.all(refused.map((one) => expect(one).rejects.toEqual(code('LOG_UNAVAILABLE'))))
  server.switches.stalled = false
  await log.append(stream, -1, batch)
})

test('a wrong revision without a quorum is not believed: own events land once', async () => {
  const server = await standIn()
  const log = await openLog(server.url)
  server.store.quorum = false
  const batch = new Sealer().batch(stream, NEW, [{}, {}])
  const appended = log.append(stream, -1, batch)
  await expect.poll(() => server.asked.appends).toBeGreaterThan(3)
  server.store.land()
  await appended
  await expectOnce(log, server, [batch])
})

test('a wrong revision that names an event without a quorum is a conflict only if that event stays', async () => {
  const server = await standIn()
  const log = await openLog(server.url)
  const others = (name: string) => {
    server.store.quorum = false
    const event = { type: 'noted', contentType: '', data: new Uint8Array(), metadata: new Uint8Array() }
    server.store.append(`ns.${name}`, -1, [{ ...event, id: crypto.randomUUID() }])
  }
  others(stream)
  const mine = new Sealer('mine').batch(stream, NEW, [{}])
  const appended = log.append(stream, -1, mine)
  await expect.poll(() => server.asked.wrong).toBeGreaterThan(1)
  server.store.vanish()
  await appended
  await expectOnce(log, server, [mine])
  others('agent-b')
  const lost = log.append('agent-b', -1, new Sealer('b').batch('agent-b', NEW, [{}]))
  lost.catch(() => undefined)
  await expect.poll(() => server.asked.wrong).toBeGreaterThan(3)
  server.store.land()
  // The check finds that another program wrote the event there.
  await expect(lost).rejects.toEqual(code('LOG_FOREIGN'))
})

test('appends behind one whose answer is lost wait for it, and do not conflict', async () => {
  const server = await standIn()
  const log = await openLog(server.url)
  server.store.quorum = false
  const sealer = new Sealer()
  const a = sealer.batch(stream, NEW, [{}])
  const b = sealer.batch(stream, tipOf(a), [{}])
  const c = sealer.batch(stream, tipOf(b), [{}])
  const calls = [a, b, c].map((batch) => log.append(stream, batch[0]!.header.revision - 1, batch))
  await expect.poll(() => server.asked.appends).toBeGreaterThan(2)
  // The leader falls with what it had; all of it is sent again.
  server.store.vanish()
  await Promise.all(calls)
  await expectOnce(log, server, [a, b, c])
})

test('appends behind one that loses its revision to another process lose too', async () => {
  const server = await standIn()
  const log = await openLog(server.url)
  const sealer = new Sealer()
  const a = sealer.batch(stream, NEW, [{}])
  const b = sealer.batch(stream, tipOf(a), [{}])
  server.store.append(`ns.${stream}`, -1, new Sealer('theirs').batch(stream, NEW, [{}]).map(encode))
  const calls = await Promise.allSettled([log.append(stream, -1, a), log.append(stream, 0, b)])
  expect(calls).toMatchObject([{ reason: { code: 'CONFLICT' } }, { reason: { code: 'APPEND_INVALID' } }])
  expect(server.store.events(`ns.${stream}`)).toHaveLength(1)
})

test('an append that is too large, its headers included, is refused before it is sent; a server with a lower limit refuses it itself', async () => {
  const server = await standIn()
  const log = await openLog(server.url)
  const before = server.asked.appends
  const batch = (count: number, bytes: number) =>
    new Sealer().batch(
      stream,
      NEW,
      Array.from({ length: count }, () => ({ body: 'x'.repeat(bytes) })),
    )
  await expect(log.append(stream, -1, batch(2, 600_000))).rejects.toEqual(code('APPEND_TOO_LARGE'))
  await expect(log.append(stream, -1, batch(5000, 1))).rejects.toEqual(code('APPEND_TOO_LARGE'))
  expect(server.asked.appends).toBe(before)
  server.store.maxAppendSize = 1000
  await expect(log.append(stream, -1, batch(1, 2000))).rejects.toEqual(code('APPEND_TOO_LARGE'))
  await log.append(stream, -1, batch(1, 20))
})

test.each([-1e9, 1e9])('a server that is slow and whose clock is wrong by %d ms changes nothing', async (skewMs) => {
  const server = await standIn()
  const log = await openLog(server.url)
  server.switches.delayMs = 40
  server.store.skewMs = skewMs
  const { sent, calls } = many(log, 8)
  await Promise.all(calls)
  await expectOnce(log, server, sent)
  const last = sent.at(-1)!.at(-1)!
  expect(await log.head(last.header.stream)).toMatchObject({ timestamp: Date.parse(last.header.timestamp) })
})

test.each(['notes-1', `agent-${'a'.repeat(260)}`])('what would be passed over is not taken: %s', async (name) => {
  const log = await openLog((await standIn()).url)
  await expect(log.append(name, -1, new Sealer().batch(name, NEW, [{}]))).rejects.toEqual(code('APPEND_INVALID'))
})

test('erasing is refused by name', async () => {
  const server = await standIn()
  const log = await openLog(server.url)
  const sealer = new Sealer()
  const batch = sealer.batch(stream, NEW, [{}])
  await log.append(stream, -1, batch)
  const fact = sealer.batch(stream, tipOf(batch), [{ type: 'erased', body: erasedBody(batch[0]!) }])
  expect(log.erases).toBe(false)
  await expect(log.append(stream, 0, fact)).rejects.toEqual(code('ERASE_IMPOSSIBLE'))
})

test('an event of another process is read before an append is chained to it', async () => {
  const server = await standIn()
  const log = await openLog(server.url)
  const sealer = new Sealer()
  const batch = sealer.batch(stream, NEW, [{}, {}])
  await log.append(stream, -1, batch)
  await log.close()
  const other = await openLog(server.url)
  const loose = sealer.batch(stream, { revision: 1, hash: 'e'.repeat(64) }, [{}])
  await expect(other.append(stream, 1, loose)).rejects.toEqual(code('APPEND_INVALID'))
  await other.append(stream, 1, sealer.batch(stream, tipOf(batch), [{}]))
  // Another writer has taken the revision, so the append first reports that conflict, and only then the caller's fault.
  for (const expected of [-1, 1])
    await expect(
      other.append(stream, expected, sealer.batch(stream, { revision: expected, hash: 'e'.repeat(64) }, [{}])),
    ).rejects.toEqual(code('CONFLICT'))
})
