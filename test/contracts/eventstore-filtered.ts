import { randomUUID } from 'node:crypto'
import {
  BACKWARDS,
  binaryEvent,
  END,
  type EventData,
  EventStoreDBClient,
  NO_STREAM,
  type Position,
  type ReadAllOptions,
  streamNameFilter,
} from '@eventstore/db-client'
import { afterAll, describe, expect, test } from 'vitest'
import { patched } from '../../adapters/eventstore/client-internals.ts'
import { readFiltered } from '../../adapters/eventstore/filtered.ts'

const event = (): EventData => binaryEvent({ type: 'noted', data: new Uint8Array(3) })
const ids = (events: readonly { id: string }[]) => events.map(({ id }) => id)

/** The behaviour that the search for a log's last event relies on. Run on the stand-in, and on a real server, which is the judge. */
export function filteredContract(name: string, url: () => string): void {
  let made: EventStoreDBClient | null = null
  const client = () => (made ??= patched(EventStoreDBClient.connectionString(url())))
  afterAll(() => made?.dispose())

  const run = randomUUID().slice(0, 8)
  let streams = 0
  const fresh = () => `filtered${run}.s-${streams++}`
  const filled = async (count: number) => {
    const stream = fresh()
    const events = Array.from({ length: count }, event)
    const { position } = await client().appendToStream(stream, events, { expectedRevision: NO_STREAM })
    return { stream, events, end: position! }
  }

  /** The events that a subscription after a position has given by the time that it has caught up. */
  const upToNow = (prefix: string, fromPosition: Position) =>
    new Promise<string[]>((resolve, reject) => {
      const seen: string[] = []
      const filter = streamNameFilter({ prefixes: [prefix] })
      const subscription = client().subscribeToAll({ fromPosition, requiresLeader: true, filter })
      subscription.on('error', reject)
      subscription.on('caughtUp', () => {
        // What was pushed before is still on its way.
        setImmediate(() => resolve(seen))
        subscription.unsubscribe()
      })
      subscription.on('data', ({ event }) => seen.push(event!.id))
    })

  describe(`${name}: with a filter`, () => {
    test('a subscription tells when it has given all that was acknowledged before, also where nothing matches', async () => {
      const { end } = await filled(100)
      const { stream, events } = await filled(1)
      const seen = ids(events)
      for (let n = 0n; n < 20n; n++) {
        const next = event()
        await client().appendToStream(stream, [next], { expectedRevision: n })
        seen.push(next.id)
        expect(await upToNow(stream, end)).toEqual(seen)
      }
      expect(await upToNow(fresh(), end)).toEqual([])
    })

    test('all is read backwards, which the client has no word for: from the end, and before a position', async () => {
      const { stream, events } = await filled(3)
      await filled(100)
      const back = async (prefix: string, options: ReadAllOptions) =>
        (await Array.fromAsync(readFiltered(client(), prefix, { direction: BACKWARDS, ...options }))).map(
          ({ event }) => event!,
        )
      const [last, second] = await back(stream, { fromPosition: END, maxCount: 2 })
      expect([second!.id, last!.id]).toEqual(ids(events.slice(1)))
      const before = await back(stream, { fromPosition: second!.position, maxCount: 2 })
      expect(ids(before)).toEqual(ids(events.slice(0, 1)))
      expect(await back(fresh(), { fromPosition: END, maxCount: 1 })).toEqual([])
    })
  })
}
