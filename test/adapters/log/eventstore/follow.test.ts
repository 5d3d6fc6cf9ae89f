import { expect, test } from 'vitest'
import type { RecordedEvent } from '../../../../domain/log/envelope.ts'
import type { EventLog } from '../../../../domain/ports/index.ts'
import { code } from '../../../contracts/event-log-factory.ts'
import { HASTY, openLog, standIn } from '../../../support/eventstore/logs.ts'
import { collect, NEW, Sealer, type Tip, tipOf } from '../../../support/log/sealing.ts'

const stream = 'agent-a1'

/** A writer of one event at a time, and what follows it from before its first one. */
async function follower(log: EventLog) {
  const sealer = new Sealer()
  const sent: string[] = []
  const seen: RecordedEvent[] = []
  let tip: Tip = NEW
  const write = async (count = 1) => {
    for (let n = 0; n < count; n++) {
      const batch = sealer.batch(stream, tip, [{}])
      await log.append(stream, tip.revision, batch)
      tip = tipOf(batch)
      sent.push(batch[0]!.id)
    }
  }
  const stop = new AbortController()
  const after = await log.headCursor()
  const done = (async () => {
    for await (const page of log.subscribe(after, stop.signal)) seen.push(...page)
  })()
  // A test that ends it otherwise does not look at its end.
  done.catch(() => undefined)
  /** All that was written has come, each once and in order, and nothing else. */
  const all = async () => {
    await expect.poll(() => seen.length).toBeGreaterThanOrEqual(sent.length)
    expect(seen.map(({ id }) => id)).toEqual(sent)
  }
  const end = async () => {
    await all()
    stop.abort()
    await done
  }
  return { write, all, end }
}

test('events that a server delivers twice are given out once', async () => {
  const server = await standIn()
  const { write, end } = await follower(await openLog(server.url))
  server.switches.duplicates = true
  await write(2)
  server.drop()
  await write(3)
  await end()
})

test('cut, killed and started again, hung: nothing is missing and nothing comes twice', async () => {
  const server = await standIn()
  const { write, all, end } = await follower(await openLog(server.url))
  await write(3)
  await all()
  server.drop()
  await write(3)
  await server.kill()
  const writing = write(3)
  await server.start()
  await writing
  await all()
  server.freeze()
  const { accepted } = server
  const late = write(3)
  await expect.poll(() => server.accepted).toBeGreaterThan(accepted + 1)
  server.thaw()
  await late
  await end()
})

test('a subscription that a server forgot is made anew after a silence, from where it had looked', async () => {
  const server = await standIn()
  const { write, all, end } = await follower(await openLog(server.url))
  await write(2)
  await all()
  // Others write a lot: the server tells how far it has looked.
  const noise = Array.from({ length: 1000 }, () => ({
    id: crypto.randomUUID(),
    type: 'noise',
    contentType: '',
    data: new Uint8Array(),
    metadata: new Uint8Array(),
  }))
  server.store.append('other', -1, noise)
  const { position } = server.store.events('other')![400]!
  await expect.poll(() => server.asked.from).toBeGreaterThan(position)
  const { subscriptions } = server.asked
  server.switches.deaf = true
  await write(2)
  server.switches.deaf = false
  await all()
  expect(server.asked.subscriptions).toBeGreaterThan(subscriptions)
  await end()
})

test('a server that takes subscriptions and confirms none is left for a new connection', async () => {
  const server = await standIn()
  const { write, all, end } = await follower(await openLog(server.url))
  await write()
  await all()
  server.switches.stalled = true
  server.drop()
  const { accepted } = server
  await expect.poll(() => server.accepted).toBeGreaterThan(accepted + 1)
  server.switches.stalled = false
  await write()
  await end()
})

test('a slow reader of pages loses no event, and slows the server down', async () => {
  const server = await standIn()
  const log = await openLog(server.url)
  const { write } = await follower(log)
  const after = await log.headCursor()
  const seen: string[] = []
  const filled = write(3)
  await filled
  const sealer = new Sealer('bulk')
  let tip: Tip = NEW
  for (let n = 0; n < 4; n++) {
    const batch = sealer.batch(
      'agent-bulk',
      tip,
      Array.from({ length: 300 }, () => ({})),
    )
    await log.append('agent-bulk', tip.revision, batch)
    tip = tipOf(batch)
  }
  for await (const page of log.subscribe(after, AbortSignal.timeout(100_000))) {
    seen.push(...page.map(({ id }) => id))
    // Longer than the silence that a subscription is allowed.
    if (seen.length < 100) await new Promise((resolve) => setTimeout(resolve, 200))
    if (seen.length >= 1203) break
  }
  const all = (await collect(log.readAll(after))).map(({ id }) => id)
  expect(seen).toEqual(all)
})

test('the whole log is read up to its head although connections break, or it is said that it cannot be', async () => {
  const server = await standIn()
  const [log, hasty] = await Promise.all([openLog(server.url), openLog(server.url, { limits: HASTY })])
  const { write, end } = await follower(log)
  await write(20)
  const seen: RecordedEvent[] = []
  for await (const page of log.readAll(null)) {
    seen.push(...page)
    server.drop()
  }
  expect(seen).toHaveLength(21)
  await end()
  server.switches.stalled = true
  const refused = [collect(hasty.readAll(null)), hasty.headCursor()]
  await Promise.all(refused.map((one) => expect(one).rejects.toEqual(code('LOG_UNAVAILABLE'))))
})

test.each([255, 256, 257, 300, 512, 513])(
  'a reader that takes its time is given all %i events to the end',
  async (count) => {
    const server = await standIn()
    const log = await openLog(server.url)
    const { write } = await follower(log)
    await write()
    const after = await log.headCursor()
    await write()
    const batch = new Sealer('bulk').batch(
      'agent-bulk',
      NEW,
      Array.from({ length: count }, () => ({})),
    )
    await log.append('agent-bulk', -1, batch)
    const { sent } = server.asked
    let seen = 0
    for await (const page of log.readAll(after)) {
      if (seen === 0) await expect.poll(() => server.asked.sent - sent).toBeGreaterThan(count)
      // All sent events are here, with the server's report of the end.
      for (let turns = 0; turns < 50; turns++) await new Promise((resolve) => setImmediate(resolve))
      seen += page.length
    }
    expect(seen).toBe(count + 1)
  },
)

test('a read of a log that is closed meanwhile ends with LOG_CLOSED', async () => {
  const server = await standIn()
  const log = await openLog(server.url)
  const { write } = await follower(log)
  await write()
  const following = log.subscribe(null, new AbortController().signal)
  await following.next()
  const next = expect(following.next()).rejects.toEqual(code('LOG_CLOSED'))
  server.switches.stalled = true
  const reading = expect(log.head(stream)).rejects.toEqual(code('LOG_CLOSED'))
  await log.close()
  await next
  await reading
  expect(() => log.readAll(null)).not.toThrow()
  await expect(collect(log.readAll(null))).rejects.toEqual(code('LOG_CLOSED'))
})
