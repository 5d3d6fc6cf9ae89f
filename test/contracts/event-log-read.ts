import { describe, expect, test } from 'vitest'
import type { RecordedEvent } from '../../domain/log/envelope.ts'
import type { ReadOptions } from '../../domain/ports/index.ts'
import { collect, NEW } from '../support/log/sealing.ts'
import { code, type EventLogFactory, opened } from './event-log-factory.ts'

async function take(pages: AsyncIterable<readonly RecordedEvent[]>, count: number): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = []
  for await (const page of pages) {
    events.push(...page)
    if (events.length >= count) break
  }
  return events
}

/** The promises of every EventLog about reads and cursors. */
export function readContract(factory: EventLogFactory): void {
  const stream = 'agent-a1'
  const open = () => opened(factory)

  describe(`${factory.name}: read`, () => {
    const filled = async () => {
      const { log, sealer } = await open()
      const a = sealer.batch(
        stream,
        NEW,
        Array.from({ length: 700 }, (_, n) => ({ body: { n } })),
      )
      const b = sealer.batch('agent-b', NEW, [{}, {}])
      await log.append(stream, -1, a)
      await log.append('agent-b', -1, b)
      return { log, sealer, a, b }
    }

    test('a stream from a revision, with a limit, without bodies; a missing one yields nothing', async () => {
      const { log, a } = await filled()
      const part = await collect(log.read(stream, { from: 3, limit: 600 }))
      expect(part.map(({ id }) => id)).toEqual(a.slice(3, 603).map(({ id }) => id))
      const bare = await collect(log.read(stream, { from: 698, bodies: false }))
      expect(bare).toMatchObject([
        { header: a[698]!.header, body: null },
        { header: a[699]!.header, body: null },
      ])
      expect(await collect(log.read(stream, { from: 700 }))).toEqual([])
      expect(await collect(log.read(stream, { limit: 0 }))).toEqual([])
      expect(await collect(log.read('agent-none'))).toEqual([])
    })

    test('the events of some types of a range, where others may be left out', async () => {
      const { log, sealer } = await open()
      const types = ['a', 'b', 'c', 'b', 'a', 'd', 'b']
      await log.append(
        stream,
        -1,
        sealer.batch(
          stream,
          NEW,
          types.map((type) => ({ type })),
        ),
      )
      const read = async (options: ReadOptions) =>
        (await collect(log.read(stream, options)))
          .filter(({ header }) => options.types!.includes(header.type))
          .map(({ header: { revision, type } }) => `${revision}${type}`)
      expect(await read({ types: ['b', 'd'] })).toEqual(['1b', '3b', '5d', '6b'])
      expect(await read({ types: ['b', 'd'], from: 2, limit: 4 })).toEqual(['3b', '5d'])
      expect(await read({ types: ['b'], bodies: false, from: 4 })).toEqual(['6b'])
      expect(await read({ types: ['e'] })).toEqual([])
      expect(await read({ types: [] })).toEqual([])
    })

    test('the head of a stream', async () => {
      const { log, a } = await filled()
      const last = a.at(-1)!
      expect(await log.head(stream)).toEqual({
        revision: 699,
        hash: last.hash,
        timestamp: Date.parse(last.header.timestamp),
      })
      expect(await log.head('agent-none')).toBeNull()
    })

    test('the log goes up to the head at the time of the call at least, then ends, and on from any of its cursors', async () => {
      const { log, sealer, a, b } = await filled()
      const pages = log.readAll(null)
      await log.append('agent-c', -1, sealer.batch('agent-c', NEW, [{}]))
      const events = await collect(pages)
      const ours = events.filter(({ header }) => !['log-meta', 'agent-c'].includes(header.stream))
      expect(ours.map(({ id }) => id)).toEqual([...a, ...b].map(({ id }) => id))
      for (let at = 1; at < events.length; at++) expect(events[at]!.position).toBeGreaterThan(events[at - 1]!.position)
      const after = await collect(log.readAll(log.cursor(ours[400]!), { limit: 3, bodies: false }))
      expect(after.map(({ id, body }) => [id, body])).toEqual(a.slice(401, 404).map(({ id }) => [id, null]))
      expect(await collect(log.readAll(await log.headCursor()))).toEqual([])
    })

    test('a cursor of another log, or of another state of this one, does not match', async () => {
      const { log } = await filled()
      const head = await log.headCursor()
      const wrong = [
        { ...head, logId: '0000000000000000' },
        { ...head, hash: '0'.repeat(64) },
        { ...head, position: head.position + 1 },
      ]
      for (const cursor of wrong) {
        await expect(collect(log.readAll(cursor))).rejects.toEqual(code('CURSOR_MISMATCH'))
        await expect(take(log.subscribe(cursor, AbortSignal.abort()), 1)).rejects.toEqual(code('CURSOR_MISMATCH'))
      }
    })

    test('streams by prefix, in order of birth', async () => {
      const { log, sealer } = await filled()
      await log.append('agent-a0', -1, sealer.batch('agent-a0', NEW, [{}]))
      await log.append('document-d', -1, sealer.batch('document-d', NEW, [{}]))
      const names = async (prefix: string) => (await Array.fromAsync(log.streams(prefix))).flat()
      expect(await names('agent-')).toEqual([stream, 'agent-b', 'agent-a0'])
      expect(await names('agent-a')).toEqual([stream, 'agent-a0'])
      expect(await names('agent_')).toEqual([])
      expect(await names('%')).toEqual([])
    })
  })
}
