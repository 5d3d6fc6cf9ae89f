import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { MemoryLog } from '../../../adapters/memory/log.ts'
import { EventFeed } from '../../../api/operations/events/feed.ts'
import { type AskedEvents, askedEvents, type FeedPage } from '../../../api/operations/events/feed-page.ts'
import type { EventFilter } from '../../../api/operations/events/filter.ts'
import type { Cursor } from '../../../domain/log/cursor.ts'
import type { SealedEvent } from '../../../domain/log/envelope.ts'
import { type Draft, erasedBody, NEW, Sealer, type Tip } from '../../support/log/sealing.ts'
import { property } from '../../support/property.ts'

const form = { format: 'ndjson', brief: true } as const
const ALL = askedEvents(form, {})
const utf8 = new TextDecoder()

/** A feed over a log in memory, whose rests end when the test says so. */
function world() {
  const log = new MemoryLog()
  const sealer = new Sealer()
  const tips = new Map<string, Tip>()
  const rests: (() => void)[] = []
  const clock = { now: () => 0, sleep: () => new Promise<void>((resolve) => rests.push(resolve)) }
  const open = { subscriptions: 0, begun: 0, reads: 0 }
  const { subscribe, readAll } = log
  log.readAll = (...args) => {
    open.reads++
    return readAll.apply(log, args)
  }
  log.subscribe = async function* (...args) {
    open.subscriptions++
    open.begun++
    try {
      yield* subscribe.apply(log, args)
    } finally {
      open.subscriptions--
    }
  }
  onTestFinished(() => log.close())
  return {
    ...{ log, open },
    feed: new EventFeed({ log, blobs: {} as never, clock }),
    async append(stream: string, drafts: readonly Draft[]): Promise<SealedEvent[]> {
      const tip = tips.get(stream) ?? NEW
      const batch = sealer.batch(stream, tip, drafts)
      await log.append(stream, tip.revision, batch)
      tips.set(stream, { revision: batch.at(-1)!.header.revision, hash: batch.at(-1)!.hash })
      return batch
    },
    /** Lets what is on its way arrive. */
    async settle(): Promise<void> {
      for (let i = 0; i < 6; i++) await turn()
    },
    rested(): void {
      for (const end of rests.splice(0)) end()
    },
  }
}

/** A client: what it took, and how far it has come. */
function client(feed: EventFeed, after: Cursor | null, asked: AskedEvents = ALL) {
  const over = new AbortController()
  onTestFinished(() => over.abort())
  const pages = feed.follow(after, over.signal)
  const ids: string[] = []
  const pieces: unknown[] = []
  let asking: Promise<void> | null = null
  const take = async (page: FeedPage) => {
    for await (const piece of page.pieces(asked)) {
      pieces.push(piece)
      const lines = (typeof piece === 'string' ? piece : utf8.decode(piece)).trim().split('\n')
      for (const line of lines) ids.push(JSON.parse(line).id)
    }
  }
  const next = () => {
    asking ??= pages.next().then(async ({ value }) => {
      if (value) await take(value)
      asking = null
    })
    return asking
  }
  return { ids, pieces, next, leave: () => over.abort() }
}

const ids = (events: readonly SealedEvent[]) => events.map(({ id }) => id)

it('gives each client all that it asks for after its cursor: nothing twice, nothing left out', async () => {
  const stream = fc.constantFrom('agent-a', 'agent-b')
  const step = fc.oneof(
    fc.record({ do: fc.constant('append' as const), stream, events: fc.integer({ min: 1, max: 5 }) }),
    fc.record({ do: fc.constant('join' as const), back: fc.nat(6), run: fc.option(fc.constantFrom('a', 'b')) }),
    fc.record({ do: fc.constant('take' as const), client: fc.nat(3) }),
    fc.record({ do: fc.constant('rest' as const) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const { log, feed, append, settle, rested } = world()
      const origin = await log.headCursor()
      const events = await append('agent-a', [{}])
      const joined: { seen: ReturnType<typeof client>; from: number; run: string | null }[] = []
      for (const s of steps) {
        if (s.do === 'append')
          events.push(
            ...(await append(
              s.stream,
              Array.from({ length: s.events }, () => ({})),
            )),
          )
        if (s.do === 'join') {
          const from = Math.max(0, events.length - s.back)
          const { hash } = events[from - 1] ?? origin
          const after = { ...origin, position: origin.position + from, hash }
          const filter: EventFilter = s.run === null ? {} : { run: s.run }
          const seen = client(feed, after, askedEvents(form, filter))
          void seen.next()
          joined.push({ seen, from, run: s.run })
        }
        if (s.do === 'take') void joined[s.client]?.seen.next()
        if (s.do === 'rest') rested()
        await settle()
      }
      for (const { seen, from, run } of joined) {
        const wanted = ids(events.slice(from).filter(({ header }) => run === null || header.runId === run))
        while (seen.ids.length < wanted.length) {
          rested()
          await Promise.race([seen.next(), turn()])
        }
        await settle()
        expect(seen.ids).toEqual(wanted)
        seen.leave()
      }
    }),
    property(60),
  )
})

it('reads the log once for a hundred clients, and makes the bytes of all that ask for the same once', async () => {
  const { log, feed, open, append, settle } = world()
  await append('agent-a', [{}])
  const head = await log.headCursor()
  const clients = Array.from({ length: 100 }, () => client(feed, head))
  for (const one of clients) void one.next()
  await settle()
  const appended = await append('agent-a', [{}, {}, {}])
  await expect.poll(() => clients.every(({ ids }) => ids.length === 3)).toBe(true)
  expect(clients[99]!.ids).toEqual(ids(appended))
  expect(new Set(clients.flatMap(({ pieces }) => pieces)).size).toBe(1)
  expect(open.begun).toBe(1)
})

it('gathers what is recorded while many rest, so that it goes out in one piece', async () => {
  const { log, feed, append, settle, rested } = world()
  await append('agent-a', [{}])
  const head = await log.headCursor()
  const [one, other] = [client(feed, head), client(feed, head)]
  void other.next()
  void one.next()
  await settle()
  const events = await append('agent-a', [{}])
  await settle()
  expect(one.ids).toEqual(ids(events))
  for (let i = 0; i < 5; i++) {
    events.push(...(await append('agent-b', [{}])))
    await settle()
  }
  void one.next()
  await settle()
  expect(one.pieces.length).toBe(1)
  rested()
  await settle()
  expect([one.pieces.length, one.ids]).toEqual([2, ids(events)])
})

it('gives a client that has read a part of what is gathered the rest of it', async () => {
  const { log, feed, append, settle, rested } = world()
  await append('agent-a', [{}])
  const head = await log.headCursor()
  for (const one of [client(feed, head), client(feed, head)]) void one.next()
  await settle()
  const events = await append('agent-a', [{}])
  await settle()
  events.push(...(await append('agent-a', [{}])))
  const late = client(feed, head)
  await late.next()
  void late.next()
  await settle()
  events.push(...(await append('agent-a', [{}])))
  await settle()
  rested()
  await settle()
  expect(late.ids).toEqual(ids(events))
})

it('lets a client that takes nothing read on in the log, and keeps no other waiting', async () => {
  const { log, feed, open, append, settle } = world()
  await append('agent-a', [{}])
  const head = await log.headCursor()
  const slow = client(feed, head)
  void slow.next()
  await settle()
  const events: SealedEvent[] = []
  const reads = open.reads
  for (let i = 0; i < 400; i++) {
    events.push(...(await append('agent-a', [{}])))
    await settle()
  }
  expect(slow.ids).toEqual(ids(events.slice(0, 1)))
  while (slow.ids.length < events.length) await slow.next()
  expect(slow.ids).toEqual(ids(events))
  // Most of it was not at hand any more.
  expect(open.reads).toBe(reads + 1)
})

it('gives out no body from memory after its erasure', async () => {
  const { log, feed, append, settle } = world()
  await append('agent-a', [{}])
  const slow = client(feed, await log.headCursor())
  void slow.next()
  await settle()
  await append('agent-a', [{}])
  await settle()
  const [secret] = await append('agent-a', [{ body: { text: 'a secret' } }])
  await settle()
  await append('agent-a', [{ type: 'erased', body: erasedBody(secret!) }])
  await settle()
  while (slow.ids.length < 3) await slow.next()
  expect(slow.ids[1]).toBe(secret!.id)
  expect(slow.pieces.map((piece) => utf8.decode(piece as Uint8Array)).join('')).not.toContain('a secret')
})

it('sends what stands before a large event in one piece with its beginning: nothing can come between', async () => {
  const { feed, append } = world()
  const [large] = await append('agent-a', [{ body: { text: 'x'.repeat(300_000) } }])
  const pieces: unknown[] = []
  for await (const page of feed.read(null))
    pieces.push(...(await Array.fromAsync(page.pieces(askedEvents({ format: 'sse', brief: false }, { run: 'a' })))))
  expect(pieces.length).toBeGreaterThan(3)
  expect(pieces[0]).toMatch(/^id: .*\nevent: noted\ndata: \{"id":/)
  expect(pieces[0]).toContain(large!.id)
})

it('ends its subscription with the last client, and begins another for the next', async () => {
  const { feed, open, append, settle } = world()
  await append('agent-a', [{}])
  const clients = [client(feed, null), client(feed, null)]
  for (const round of [1, 2]) {
    for (const one of clients) void one.next()
    await settle()
    for (const one of clients) void one.next()
    await settle()
    expect(open).toMatchObject({ subscriptions: 1, begun: round })
    for (const one of clients) one.leave()
    await expect.poll(() => open.subscriptions).toBe(0)
    clients.splice(0, 2, client(feed, null))
  }
})

it('tells every client of a log that cannot be read any more, and the next one begins anew', async () => {
  const { log, feed, append, settle } = world()
  await append('agent-a', [{}])
  const head = await log.headCursor()
  const waiting = [client(feed, head), client(feed, head)].map((one) => one.next())
  await settle()
  await log.close()
  for (const one of waiting) await expect(one).rejects.toMatchObject({ code: 'LOG_CLOSED' })
  await expect(client(feed, head).next()).rejects.toMatchObject({ code: 'LOG_CLOSED' })
})

it('a page has all its events for each client, however many have read it', async () => {
  const { feed, append } = world()
  await append(
    'agent-a',
    Array.from({ length: 200 }, (_, n) => ({ type: 'user_input', body: { text: `${n} `.repeat(150) } })),
  )
  const [page] = await Array.fromAsync(feed.read(null))
  const whole = (format: 'ndjson' | 'sse') => askedEvents({ format, brief: false }, {})
  for (const asked of [whole('ndjson'), whole('sse'), whole('ndjson')]) {
    const pieces = await Array.fromAsync(page!.pieces(asked))
    const text = pieces.map((piece) => (typeof piece === 'string' ? piece : utf8.decode(piece as Uint8Array))).join('')
    expect(text.match(/"revision":/g)).toHaveLength(page!.events.length)
  }
})

it('serves other work between the clients of a publication', async () => {
  const { log, feed, append, settle } = world()
  await append('agent-a', [{ type: 'x', body: {} }])
  const after = await log.headCursor()
  const over = new AbortController()
  onTestFinished(() => over.abort())
  let turns = 0
  const served: number[] = []
  const follow = async () => {
    for await (const _ of feed.follow(after, over.signal)) served.push(turns)
  }
  for (let n = 0; n < 100; n++) void follow()
  await settle()
  await append('agent-a', [{ type: 'x', body: {} }])
  for (; turns < 100 && served.length < 100; turns++) await turn()
  const byTurn = served.reduce((counts, at) => counts.set(at, (counts.get(at) ?? 0) + 1), new Map<number, number>())
  expect([served.length, Math.max(...byTurn.values())]).toEqual([100, 32])
})
