import { EventStoreDBClient } from '@eventstore/db-client'
import type { EventStoreLog } from '../../../adapters/eventstore/log.ts'
import { openEventStoreLog } from '../../../adapters/eventstore/open.ts'
import { openPair, type Pair } from '../../support/servers/pair.ts'

/** The servers that are measured, and a client that belongs to no runtime. */
export interface Place {
  readonly pair: Pair
  readonly bare: EventStoreDBClient
  readonly quick: boolean
  /** How many events the long log holds; null: none is made. */
  readonly events: number | null
  /** A log of its own, empty but for its identity. */
  open(): Promise<EventStoreLog & { readonly namespace: string }>
  close(): Promise<void>
}

export async function openPlace(options: Pick<Place, 'quick' | 'events'>): Promise<Place> {
  const pair = await openPair()
  const bare = EventStoreDBClient.connectionString(pair.url)
  const logs: EventStoreLog[] = []
  return {
    ...options,
    pair,
    bare,
    async open() {
      const namespace = pair.fresh().KEEPUP_NAMESPACE!
      const log = await openEventStoreLog({ connectionString: pair.url, namespace })
      logs.push(log)
      return Object.assign(log, { namespace })
    },
    async close() {
      for (const log of logs) await log.close()
      await bare.dispose()
      await pair.stop()
    },
  }
}
