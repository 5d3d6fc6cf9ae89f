import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import {
  ANY,
  BACKWARDS,
  binaryEvent,
  END,
  EventStoreDBClient,
  isCommandError,
  type Position,
  type ReadAllOptions,
  type ReadStreamOptions,
  START,
  STREAM_EXISTS,
  streamNameFilter,
} from '@eventstore/db-client'
import { afterAll, describe, expect, test } from 'vitest'
import type { BinaryEvent } from '../../adapters/eventstore/append-message.ts'
import { AppendStream } from '../../adapters/eventstore/append-stream.ts'
import { patched } from '../../adapters/eventstore/client-internals.ts'

const NO_STREAM = -1
const event = (type = 'noted', size = 3, id: string = randomUUID()): BinaryEvent => ({
  ...binaryEvent({ id, type, data: new Uint8Array(size) }),
  data: new Uint8Array(size),
  metadata: new Uint8Array(),
})
const ids = (events: readonly { id: string }[]) => events.map(({ id }) => id)

/** The outcome of a promise, without prose. Undefined becomes null. */
async function told(work: Promise<unknown>): Promise<unknown> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const { type, code, actualVersion, expectedVersion, maxAppendSize } = error as Error & Record<string, unknown>
    const known = isCommandError(error) ? { type } : { type: 'plain' }
    const more = { code, actualVersion, expectedVersion, maxAppendSize }
    return { ...known, ...Object.fromEntries(Object.entries(more).filter(([, value]) => value !== undefined)) }
  }
}

/**
 * How EventStoreDB 23.10.6 behaves where the adapter relies on it or defends against it. Run on the stand-in, and on a
 * real server, which is the judge. `forgets`: it may have held so many events that it remembers no ids by themselves.
 */
export function serverContract(name: string, url: () => string, { forgets = false } = {}): void {
  let made: EventStoreDBClient | null = null
  const client = () => (made ??= patched(EventStoreDBClient.connectionString(url())))
  afterAll(() => made?.dispose())
  let opened: AppendStream | null = null
  const appends = () => (opened ??= new AppendStream(client()))
  const send = async (stream: string, events: readonly BinaryEvent[], expected: number) =>
    (await appends().call()).send(stream, expected, events)

  let streams = 0
  const run = randomUUID().slice(0, 8)
  const fresh = () => `probe${run}.s-${streams++}`
  const append = (stream: string, events: readonly BinaryEvent[], expected: number) =>
    told(send(stream, events, expected).then(({ revision, position }) => done(revision, position !== undefined)))
  /** As the adapter never does. */
  const appendUnasked = (stream: string, events: BinaryEvent[], expectedRevision: typeof ANY | typeof STREAM_EXISTS) =>
    told(
      client()
        .appendToStream(stream, events, { expectedRevision })
        .then(({ nextExpectedRevision, position }) => done(nextExpectedRevision, position !== undefined)),
    )
  const read = (stream: string, options: ReadStreamOptions = {}) =>
    told(Array.fromAsync(client().readStream(stream, options)).then((found) => found.map(({ event }) => event!)))
  const readIds = async (stream: string) => ids((await read(stream)) as { id: string }[])
  const filled = async (count: number) => {
    const stream = fresh()
    const events = Array.from({ length: count }, () => event())
    await append(stream, events, NO_STREAM)
    return { stream, events }
  }
  const done = (at: bigint, visible = true) => ({ at, visible })
  const wrong = (expectedVersion: unknown, actualVersion: unknown) => ({
    type: 'wrong-expected-version',
    expectedVersion,
    actualVersion,
  })

  describe(`${name}: an append at a revision`, () => {
    test('is compared with what stands there, by ids alone', async () => {
      const { stream, events } = await filled(3)
      const [a, b, c] = events as [BinaryEvent, BinaryEvent, BinaryEvent]
      const before = await readIds(stream)
      expect(await append(stream, [a, b, c], NO_STREAM)).toEqual(done(2n))
      expect(await append(stream, [{ ...a, type: 'other' }], NO_STREAM)).toEqual(done(0n))
      expect(await append(stream, [a, b], NO_STREAM)).toEqual(done(1n))
      expect(await append(stream, [b, c], 0)).toEqual(done(2n))
      for (const batch of [
        [a, b, c, event()],
        [a, event()],
        [event(), a],
        [b, a, c],
      ])
        expect(await append(stream, batch, NO_STREAM)).toEqual(wrong('no_stream', 2n))
      expect(await append(stream, [event()], 1)).toEqual(wrong(1n, 2n))
      expect(await append(stream, [event()], 3)).toEqual(wrong(3n, 2n))
      expect(await append(fresh(), [event()], 3)).toEqual(wrong(3n, 'no_stream'))
      expect(await readIds(stream)).toEqual(before)
      expect(await append(stream, [a], 2)).toEqual(done(3n))
      expect(await readIds(stream)).toEqual([...before, a.id])
    })

    test('with "any" is compared with what is remembered', async () => {
      const { stream, events } = await filled(2)
      const [a, b] = events as [BinaryEvent, BinaryEvent]
      const again = await appendUnasked(stream, [a, b], ANY)
      if (forgets && isDeepStrictEqual(again, done(3n))) {
        expect(await readIds(stream)).toEqual([a.id, b.id, a.id, b.id])
        return
      }
      expect(again).toEqual(done(1n))
      expect(await appendUnasked(stream, [a, b], STREAM_EXISTS)).toEqual(done(1n))
      expect(await appendUnasked(stream, [a, event()], ANY)).toEqual(wrong('any', 1n))
      expect(await appendUnasked(stream, [event(), a], ANY)).toEqual(done(3n))
      expect(await appendUnasked(fresh(), [event()], STREAM_EXISTS)).toEqual(wrong('stream_exists', 'no_stream'))
    })

    test('is refused over a mebibyte of data, whatever the metadata', async () => {
      const most = 1024 * 1024
      expect(await append(fresh(), [event('noted', most)], NO_STREAM)).toEqual(done(0n))
      const over = { type: 'maximum-append-size-exceeded', maxAppendSize: most }
      expect(await append(fresh(), [event('noted', most - 1), event('noted', 2)], NO_STREAM)).toEqual(over)
      const heavy = { ...event(), metadata: new Uint8Array(2 * most) }
      expect(await append(fresh(), [heavy], NO_STREAM)).toEqual(done(0n))
    })

    test('is refused without a type, a name or a UUID', async () => {
      const bad = { type: 'unknown' }
      expect(await append(fresh(), [event('')], NO_STREAM)).toEqual(bad)
      expect(await append('', [event()], NO_STREAM)).toEqual(bad)
      expect(await append(fresh(), [event('noted', 1, 'x')], NO_STREAM)).toEqual(bad)
    })
  })

  describe(`${name}: streams that an operator changed`, () => {
    test('deleted: reads like none, and begins again where it ended', async () => {
      const { stream, events } = await filled(3)
      await client().deleteStream(stream)
      expect(await read(stream)).toMatchObject({ type: 'stream-not-found' })
      expect(await append(stream, events, NO_STREAM)).toEqual(done(2n, false))
      expect(await read(stream)).toMatchObject({ type: 'stream-not-found' })
      expect(await appendUnasked(stream, [event()], STREAM_EXISTS)).toMatchObject({ type: 'stream-deleted' })
      expect(await append(stream, [event()], 1)).toMatchObject({ type: 'wrong-expected-version' })
      expect(await append(stream, [event(), event()], NO_STREAM)).toEqual(done(4n))
      const found = (await read(stream)) as { revision: bigint }[]
      expect(found.map(({ revision }) => revision)).toEqual([3n, 4n])
      expect(await append(stream, [event()], NO_STREAM)).toEqual(wrong('no_stream', 4n))
    })

    test('truncated: hides events and keeps their revisions; what is hidden answers a resend without a position', async () => {
      const { stream, events } = await filled(3)
      await client().setStreamMetadata(stream, { truncateBefore: 2 })
      expect(await readIds(stream)).toEqual(ids(events.slice(2)))
      await client().setStreamMetadata(stream, { truncateBefore: 9 })
      expect(await read(stream)).toEqual([])
      expect(await read(stream, { direction: BACKWARDS, fromRevision: END, maxCount: 1 })).toEqual([])
      expect(await append(stream, events, NO_STREAM)).toEqual(done(2n, false))
      expect(await append(stream, [event()], 2)).toEqual(done(3n))
      expect(await read(stream)).toEqual([])
      await client().setStreamMetadata(stream, { maxCount: 1 })
      expect((await readIds(stream)).length).toBe(1)
      await client().setStreamMetadata(stream, {})
      expect((await readIds(stream)).length).toBe(4)
    })

    test('tombstoned: refuses all, for ever', async () => {
      const { stream, events } = await filled(2)
      await client().tombstoneStream(stream)
      expect(await append(stream, events, NO_STREAM)).toEqual({ type: 'stream-deleted' })
      expect(await read(stream)).toMatchObject({ type: 'stream-deleted' })
      expect(await told(client().deleteStream(stream))).toMatchObject({ type: 'stream-deleted' })
    })
  })

  describe(`${name}: reads`, () => {
    test('of a stream: inclusive, nothing past the end, an error where there is none', async () => {
      const { stream, events } = await filled(3)
      expect(ids((await read(stream, { fromRevision: 1n })) as { id: string }[])).toEqual(ids(events.slice(1)))
      expect(await read(stream, { fromRevision: 3n })).toEqual([])
      const backwards = (await read(stream, { direction: BACKWARDS, fromRevision: END, maxCount: 1 })) as {
        id: string
      }[]
      expect(ids(backwards)).toEqual(ids(events.slice(2)))
      expect(await read(fresh())).toMatchObject({ type: 'stream-not-found' })
      expect(await read(fresh(), { direction: BACKWARDS, fromRevision: END })).toMatchObject({
        type: 'stream-not-found',
      })
      expect(await read(stream, { maxCount: 0 })).toEqual({ type: 'unknown', code: 2 })
    })

    const all = (options: ReadAllOptions) =>
      told(Array.fromAsync(client().readAll(options)).then((found) => found.map(({ event }) => event!)))

    test('of all: inclusive, an error where no record begins, nothing beyond the end', async () => {
      const { events } = await filled(2)
      const [last, first] = (await all({ direction: BACKWARDS, fromPosition: END, maxCount: 2 })) as {
        id: string
        position: Position
      }[]
      expect([first!.id, last!.id]).toEqual(ids(events))
      const { commit, prepare } = last!.position
      expect(commit).toBe(prepare)
      expect(ids((await all({ fromPosition: first!.position })) as { id: string }[])).toEqual(ids(events))
      const inside = { commit: first!.position.commit + 1n, prepare: first!.position.commit + 1n }
      expect(await all({ fromPosition: inside, maxCount: 1 })).toEqual({ type: 'unknown', code: 2 })
      const beyond = { commit: commit + 100_000n, prepare: prepare + 100_000n }
      expect(await all({ fromPosition: beyond, maxCount: 1 })).toEqual([])
    })
  })

  describe(`${name}: a filtered subscription`, () => {
    test('begins after its position, tells how far it looked, and goes on live', async () => {
      const stream = fresh()
      const events = [event(), event(), event(), event()] as const
      const first = await send(stream, [events[0]], NO_STREAM)
      await send(stream, [events[1]], 0)
      const noise = Array.from({ length: 100 }, () => event())
      await send(fresh(), noise, NO_STREAM)
      const second = await send(stream, [events[2]], 1)
      const checkpoints: bigint[] = []
      const seen: string[] = []
      const subscription = client().subscribeToAll({
        fromPosition: first.position!,
        filter: streamNameFilter({
          prefixes: [stream],
          checkpointInterval: 1,
          maxSearchWindow: 32,
          checkpointReached: (_, { commit }) => {
            checkpoints.push(commit)
          },
        }),
      })
      const heard = new Promise<void>((resolve, reject) => {
        subscription.on('error', reject)
        subscription.on('data', async ({ event }) => {
          seen.push(event!.id)
          if (seen.length === 2) await send(stream, [events[3]], 2)
          if (seen.length === 3) resolve()
        })
      })
      await heard
      await subscription.unsubscribe()
      expect(seen).toEqual(ids(events.slice(1)))
      expect(checkpoints.length).toBeGreaterThanOrEqual(3)
      for (const commit of checkpoints) expect(commit).toBeGreaterThan(first.position!.commit)
      expect(second.position!.commit).toBeGreaterThan(checkpoints[1]!)
      // From what was told last nothing is missing.
      const rest: string[] = []
      const again = client().subscribeToAll({
        fromPosition: { commit: checkpoints[1]!, prepare: checkpoints[1]! },
        filter: streamNameFilter({ prefixes: [stream] }),
      })
      for await (const { event } of again) if (rest.push(event!.id) === 2) break
      await again.unsubscribe()
      expect(rest).toEqual(ids(events.slice(2)))
    })

    test('gives the end of a tombstoned stream, and says nothing of deleted or truncated ones', async () => {
      const [a, b] = [await filled(1), await filled(1)]
      const before = await send(fresh(), [event()], NO_STREAM)
      await client().deleteStream(a.stream)
      await client().tombstoneStream(b.stream)
      const types: string[] = []
      const filter = streamNameFilter({ prefixes: [a.stream, b.stream] })
      const subscription = client().subscribeToAll({ fromPosition: before.position!, filter })
      for await (const { event } of subscription) {
        types.push(event!.type)
        break
      }
      await subscription.unsubscribe()
      expect(types).toEqual(['$streamDeleted'])
    })

    test('from the start begins with the first event', async () => {
      const { stream, events } = await filled(1)
      const subscription = client().subscribeToAll({
        fromPosition: START,
        filter: streamNameFilter({ prefixes: [stream] }),
      })
      for await (const { event } of subscription) {
        expect(event!.id).toBe(events[0]!.id)
        break
      }
      await subscription.unsubscribe()
    })
  })
}
