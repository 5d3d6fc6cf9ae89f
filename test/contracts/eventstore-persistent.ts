import { randomUUID } from 'node:crypto'
import {
  binaryEvent,
  END,
  EventStoreDBClient,
  isCommandError,
  NO_STREAM,
  type PersistentSubscriptionToStream,
  type PersistentSubscriptionToStreamResolvedEvent,
  persistentSubscriptionToAllSettingsFromDefaults,
  persistentSubscriptionToStreamSettingsFromDefaults,
  START,
  streamNameFilter,
} from '@eventstore/db-client'
import { afterAll, describe, expect, test } from 'vitest'

/** The persistent subscriptions of EventStoreDB 23.10.6, as far as they are known. */
export function persistentContract(name: string, url: () => string): void {
  let made: EventStoreDBClient | null = null
  const client = () => (made ??= EventStoreDBClient.connectionString(url()))
  afterAll(() => made?.dispose())
  const code = (work: Promise<unknown>) =>
    work.then(
      () => 'done',
      (error: unknown) => (error instanceof Error && isCommandError(error) ? [error.type, error.code] : 'other'),
    )

  /** A stream of some events with a group that reads it from its start. */
  async function filled(count: number, more: object = {}) {
    const stream = `persistent-${randomUUID()}`
    const events = Array.from({ length: count }, () => binaryEvent({ type: 'noted', data: new Uint8Array(3) }))
    await client().appendToStream(stream, events, { expectedRevision: NO_STREAM })
    const settings = persistentSubscriptionToStreamSettingsFromDefaults({ startFrom: START, ...more })
    await client().createPersistentSubscriptionToStream(stream, 'g', settings)
    return { stream, ids: events.map(({ id }) => id) }
  }

  const info = (stream: string) => client().getPersistentSubscriptionToStreamInfo(stream, 'g')

  type Delivered = PersistentSubscriptionToStreamResolvedEvent
  /**
   * Reads until `enough`. What is done with each event is `settle`'s; the server has heard of all of it when `left` of them
   * are unsettled.
   */
  async function deliveries(
    stream: string,
    settle: (subscription: PersistentSubscriptionToStream, event: Delivered) => Promise<void>,
    enough: number,
    left = 0,
  ): Promise<readonly (readonly [string, number])[]> {
    const seen: [string, number][] = []
    const subscription = client().subscribeToPersistentSubscriptionToStream(stream, 'g')
    await new Promise<void>((resolve, reject) => {
      subscription.on('error', reject)
      subscription.on('data', async (delivered: Delivered) => {
        seen.push([delivered.event!.id, delivered.retryCount])
        await settle(subscription, delivered)
        if (seen.length === enough) resolve()
      })
    })
    await expect.poll(async () => Number((await info(stream)).stats.totalInFlightMessages)).toBe(left)
    await subscription.unsubscribe()
    return seen
  }

  describe(`${name}: persistent subscriptions`, () => {
    test('are made once, asked about, ended once', async () => {
      const { stream } = await filled(1)
      const settings = persistentSubscriptionToStreamSettingsFromDefaults()
      const again = client().createPersistentSubscriptionToStream(stream, 'g', settings)
      expect(await code(again)).toEqual(['persistent-subscription-exists', 6])
      expect((await info(stream)).settings).toMatchObject({ maxRetryCount: 10, messageTimeout: 30_000 })
      await client().deletePersistentSubscriptionToStream(stream, 'g')
      const missing = ['persistent-subscription-does-not-exist', 5]
      expect(await code(info(stream))).toEqual(missing)
      expect(await code(client().deletePersistentSubscriptionToStream(stream, 'g'))).toEqual(missing)
      expect(await code(deliveries(stream, async () => undefined, 1))).toEqual(missing)
    })

    test('bring again what is refused, until it is parked; what is skipped is gone; what is parked comes on demand', async () => {
      const { stream, ids } = await filled(3, { maxRetryCount: 2 })
      const [a, b, c] = ids as [string, string, string]
      const settle = async (subscription: PersistentSubscriptionToStream, event: Delivered) => {
        if (event.event!.id === a) await subscription.nack('retry', 'again', event)
        else if (event.event!.id === b) await subscription.nack('skip', 'no', event)
        else await subscription.nack('park', 'later', event)
      }
      const seen = await deliveries(stream, settle, 5)
      expect(seen.filter(([id]) => id === a).map(([, retries]) => retries)).toEqual([0, 1, 2])
      expect(seen.filter(([id]) => id !== a)).toEqual([
        [b, 0],
        [c, 0],
      ])
      await expect.poll(async () => (await info(stream)).stats.parkedMessageCount).toBe(2n)
      const parked = await Array.fromAsync(
        client().readStream(`$persistentsubscription-${stream}::g-parked`, { fromRevision: START }),
      )
      expect(parked.map(({ event }) => event!.type)).toEqual(['$>', '$>'])
      await client().replayParkedMessagesToStream(stream, 'g')
      const replayed = await deliveries(stream, (subscription, event) => subscription.ack(event), 2)
      expect(replayed.map(([id]) => id).sort()).toEqual([a, c].sort())
    })

    test('give to the next consumer what the one before has not settled', async () => {
      const { stream, ids } = await filled(4)
      const first = await deliveries(
        stream,
        async (subscription, event) => {
          if (event.event!.id === ids[0]) await subscription.ack(event)
        },
        4,
        3,
      )
      expect(first.map(([id]) => id)).toEqual(ids)
      const second = await deliveries(stream, (subscription, event) => subscription.ack(event), 3)
      expect(second.map(([id]) => id).sort()).toEqual(ids.slice(1).sort())
    })

    test('to all, through a filter, from the end', async () => {
      const prefix = `persistent-${randomUUID()}`
      const group = `g-${prefix}`
      const settings = persistentSubscriptionToAllSettingsFromDefaults({ startFrom: END })
      const filter = streamNameFilter({ prefixes: [prefix] })
      await client().createPersistentSubscriptionToAll(group, settings, { filter })
      const events = [0, 1].map(() => binaryEvent({ type: 'noted', data: new Uint8Array(3) }))
      await client().appendToStream(`other-${prefix}`, binaryEvent({ type: 'noted', data: new Uint8Array(1) }))
      await client().appendToStream(`${prefix}-x`, events)
      const seen: string[] = []
      const subscription = client().subscribeToPersistentSubscriptionToAll(group)
      for await (const delivered of subscription) {
        await subscription.ack(delivered)
        if (seen.push(delivered.event!.id) === 2) break
      }
      await subscription.unsubscribe()
      expect(seen).toEqual(events.map(({ id }) => id))
      await client().deletePersistentSubscriptionToAll(group)
    })
  })
}
