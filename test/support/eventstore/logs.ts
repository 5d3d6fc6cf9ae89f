import { EventStoreDBClient } from '@eventstore/db-client'
import { expect, onTestFinished } from 'vitest'
import type { EventStoreLog } from '../../../adapters/eventstore/log.ts'
import { openEventStoreLog } from '../../../adapters/eventstore/open.ts'
import type { EventStoreLogOptions } from '../../../adapters/eventstore/options.ts'
import type { SealedEvent } from '../../../domain/log/envelope.ts'
import { BEFORE, collect } from '../log/sealing.ts'
import { StandInCluster } from './cluster.ts'
import { StandIn } from './stand-in.ts'

/** Limits for servers that fail immediately or never. */
export const SHORT = { callMs: 400, patienceMs: 60_000, silenceMs: 150 }

/** Limits for clients that soon give up a permanently failing server, but wait long enough for a working one. */
export const HASTY = { callMs: 1_500, patienceMs: 3_000, silenceMs: 150 }

/** A stand-in, open until the test has finished. */
export async function standIn(): Promise<StandIn> {
  const server = await new StandIn().start()
  onTestFinished(() => server.stop())
  return server
}

/** A cluster of three stand-ins. */
export async function standInCluster(): Promise<StandInCluster> {
  const cluster = await new StandInCluster().start()
  onTestFinished(() => cluster.stop())
  return cluster
}

/** A log on a server, open until the test has finished. */
export async function openLog(url: string, options: Partial<EventStoreLogOptions> = {}): Promise<EventStoreLog> {
  const log = await openEventStoreLog({
    connectionString: url,
    namespace: 'ns',
    limits: SHORT,
    clock: BEFORE,
    ...options,
  })
  onTestFinished(() => log.close())
  return log
}

/** An operator's client. */
export function operator(url: string): EventStoreDBClient {
  const client = EventStoreDBClient.connectionString(url)
  onTestFinished(() => client.dispose())
  return client
}

const idsOf = (events: readonly { id: string }[]) => events.map(({ id }) => id)

/** Checks that each event was written once and in order. */
export async function expectOnce(log: EventStoreLog, server: StandIn, sent: readonly (readonly SealedEvent[])[]) {
  const streams = Map.groupBy(sent.flat(), ({ header }) => header.stream)
  for (const [name, events] of streams) {
    expect(idsOf(await collect(log.read(name)))).toEqual(idsOf(events))
    expect(server.store.events(`ns.${name}`)).toHaveLength(events.length)
  }
}
