import { describe, expect, test } from 'vitest'
import type { RecordedEvent, SealedEvent } from '../../domain/log/envelope.ts'
import type { Json } from '../../domain/log/json.ts'
import { StreamVerifier } from '../../domain/log/verify.ts'
import { collect, erasedBody, NEW, tipOf } from '../support/log/sealing.ts'
import { appendContract } from './event-log-append.ts'
import { code, type EventLogFactory, opened } from './event-log-factory.ts'
import { readContract } from './event-log-read.ts'

/** The promises of every EventLog. Run it once for each adapter. */
export function eventLogContract(factory: EventLogFactory): void {
  const stream = 'agent-a1'
  const open = () => opened(factory)

  appendContract(factory)
  readContract(factory)

  describe(`${factory.name}: subscribe`, () => {
    test('gives what is there, then what comes, each once and in order, until the signal', async () => {
      const { log, sealer } = await open()
      let tip = NEW
      const sent: string[] = []
      const write = async (count: number) => {
        const batch = sealer.batch(
          stream,
          tip,
          Array.from({ length: count }, () => ({})),
        )
        await log.append(stream, tip.revision, batch)
        tip = tipOf(batch)
        sent.push(...batch.map(({ id }) => id))
      }
      await write(3)
      const stop = new AbortController()
      const after = await log.headCursor()
      await write(600)
      const seen: RecordedEvent[] = []
      const done = (async () => {
        for await (const page of log.subscribe(after, stop.signal)) {
          seen.push(...page)
          if (seen.length === 600) await write(1)
          if (seen.length === 601) write(5)
          if (seen.length >= 606) stop.abort()
        }
      })()
      await done
      expect(seen.map(({ id }) => id)).toEqual(sent.slice(3))
      expect(seen.every(({ body }) => body !== null)).toBe(true)
    })

    test('ends at once when nothing comes and the signal aborts', async () => {
      const { log } = await open()
      const stop = new AbortController()
      const next = log
        .subscribe(await log.headCursor(), stop.signal)
        [Symbol.asyncIterator]()
        .next()
      stop.abort()
      expect((await next).done).toBe(true)
    })
  })

  describe(`${factory.name}: floor and close`, () => {
    test('what is sealed at the floor is accepted', async () => {
      const { log, sealer } = await open()
      const far = sealer.batch(stream, NEW, [{ ms: 5000 }])
      const first = log.append(stream, -1, far)
      const floor = log.floor()
      sealer.ms = 0
      const other = sealer.batch('agent-b', NEW, [
        { header: { timestamp: new Date(Math.max(floor, 1)).toISOString() } },
      ])
      await Promise.all([first, log.append('agent-b', -1, other)])
    })

    test('a closed log says so', async () => {
      const { log, sealer } = await open()
      const pages = log.subscribe(await log.headCursor(), new AbortController().signal)[Symbol.asyncIterator]()
      const waiting = pages.next()
      const written = log.append(stream, -1, sealer.batch(stream, NEW, [{}]))
      await written
      await waiting
      const ended = expect(pages.next()).rejects.toEqual(code('LOG_CLOSED'))
      await log.close()
      await ended
      await expect(log.append('agent-b', -1, sealer.batch('agent-b', NEW, [{}]))).rejects.toEqual(code('LOG_CLOSED'))
      await expect(collect(log.read(stream))).rejects.toEqual(code('LOG_CLOSED'))
      await expect(log.head(stream)).rejects.toEqual(code('LOG_CLOSED'))
    })
  })

  test(`${factory.name} says whether it can empty bodies`, async () => {
    const { log } = await open()
    expect(log.erases).toBe(factory.erases)
  })

  describe.runIf(factory.erases)(`${factory.name}: erase`, () => {
    test('empties the bodies that facts of the same append name, and verification says "erased"', async () => {
      const { log, sealer } = await open()
      const batch = sealer.batch(stream, NEW, [{}, { body: { secret: 'x' } }, {}])
      await log.append(stream, -1, batch)
      const [first, second, third] = batch as [SealedEvent, SealedEvent, SealedEvent]
      const facts = (...bodies: Json[]) =>
        sealer.batch(
          stream,
          tipOf(batch),
          bodies.map((body) => ({ type: 'erased', body })),
        )
      const noBodies = { bodies: [], code: 'other', reason: 'asked for' }
      const absent = { bodies: [{ revision: 9, bodyHash: first.header.body.hash }], code: 'other', reason: 'asked for' }
      const other = { bodies: [{ revision: 0, bodyHash: second.header.body.hash }], code: 'other', reason: 'asked for' }
      const shapeless = [
        { bodies: ['first'], code: 'other', reason: 'asked for' },
        { revision: 1, code: 'other', reason: 'x' },
      ]
      for (const body of [noBodies, absent, other, ...shapeless])
        for (const both of [facts(erasedBody(first), body), facts(body, erasedBody(first))])
          await expect(log.append(stream, 2, both)).rejects.toEqual(code('APPEND_INVALID'))
      expect((await collect(log.read(stream))).map(({ body }) => body !== null)).toEqual([true, true, true])
      const two = facts(erasedBody(second, first), erasedBody(second))
      await log.append(stream, 2, two)
      await log.append(stream, 2, two)
      await log.append(
        stream,
        4,
        sealer.batch(stream, tipOf(two), [{ type: 'erased', body: erasedBody(first, third) }]),
      )
      const events = await collect(log.read(stream))
      expect(events.map(({ body, erased }) => [body === null, erased === true])).toEqual([
        [true, true],
        [true, true],
        [true, true],
        [false, false],
        [false, false],
        [false, false],
      ])
      const verifier = new StreamVerifier(stream)
      verifier.page(events)
      const gone = [1, 0, 2].map((revision) => ({ revision, reason: 'asked for' }))
      expect(verifier.result()).toMatchObject({ ok: true, erased: gone })
    })

    test('is seen by who follows the log from before, however lately the event was written', async () => {
      const { log, sealer } = await open()
      const before = await log.headCursor()
      const batch = sealer.batch(stream, NEW, [{ body: { secret: 'x' } }, {}])
      await log.append(stream, -1, batch)
      const fact = sealer.batch(stream, tipOf(batch), [{ type: 'erased', body: erasedBody(batch[0]!) }])
      await log.append(stream, 1, fact)
      const seen: RecordedEvent[] = []
      for await (const page of log.subscribe(before, AbortSignal.timeout(100_000))) {
        seen.push(...page)
        if (seen.length >= 3) break
      }
      expect(seen.map((event) => [event.body === null, event.erased === true])).toEqual([
        [true, true],
        [false, false],
        [false, false],
      ])
    })
  })
}
