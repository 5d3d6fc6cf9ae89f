import type { EventStoreLogOptions } from '../../adapters/eventstore/options.ts'
import type { EventLog } from '../../domain/ports/index.ts'

export type { EventStoreLogOptions }

/**
 * Opens the log of a namespace on an EventStoreDB, and creates a missing one. Loads the client only here, because that
 * takes 0.2 s. Rejects with a LogError that contains a remedy.
 */
export async function openEventStoreLog(options: EventStoreLogOptions): Promise<EventLog> {
  const { openEventStoreLog: open } = await import('../../adapters/eventstore/open.ts')
  return open(options)
}
