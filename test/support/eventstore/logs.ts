import { EventStoreDBClient } from '@eventstore/db-client'
import { expect, onTestFinished } from 'vitest'
import type { EventStoreLog } from '../../../adapters/eventstore/log.ts'
import { openEventStoreLog } from '../../../adapters/eventstore/open.ts'
import type { EventStoreLogOptions } from '../../../adapters/eventstore/options.ts'
import type { SealedEvent } from '../../../domain/log/envelope.ts'
import { BEFORE, collect } from '../sealing.ts'
import { StandInCluster } from './cluster.ts'
import { StandIn } from './stand-in.ts'

/** Limits for servers that fail at once or never. */
export const SHORT = { callMs: 400, patienceMs: 60_000, silenceMs: 150 }

/** Limits of who soon gives up a server that fails for ever: long enough to be served by one that does not. */
export const HASTY = { callMs: 1_500, patienceMs: 3_000, silenceMs: 150 }

/** A stand-in until the test has finished. */
export async function standIn(): Promise<StandIn> {
  const server = await new StandIn().start()
  onTestFinished(() => server.stop())
  return server
}

/** Three of them. */
export async function standInCluster(): Promise<StandInCluster> {
  const cluster = await new StandInCluster().start()
  onTestFinished(() => cluster.stop())
  return cluster
}

/** A log on a server until the test has finished. */
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

/** A client of an operator. */
export function operator(url: string): EventStoreDBClient {
  const client = EventStoreDBClient.connectionString(url)
  onTestFinished(() => client.dispose())
  return client
}

const idsOf = (events: readonly { id: string }[]) => events.map(({ id }) => id)

/** Each was written once, in order, at its place. */
export async function expectOnce(log: EventStoreLog, server: StandIn, sent: readonly (readonly SealedEvent[])[]) {
  const streams = Map.groupBy(sent.flat(), ({ header }) => header.stream)
  for (const [name, events] of streams) {
    expect(idsOf(await collect(log.read(name)))).toEqual(idsOf(events))
    expect(server.store.events(`ns.${name}`)).toHaveLength(events.length)
  }
}
