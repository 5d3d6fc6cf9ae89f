import type { EventStoreLogOptions } from '../../adapters/eventstore/options.ts'
import type { EventLog } from '../../domain/ports/index.ts'

export type { EventStoreLogOptions }

/**
 * Opens the log of a namespace on an EventStoreDB, and makes it where there is none. The client is loaded only here, for
 * it takes a fifth of a second. Rejects with a LogError that says what to do.
 */
export async function openEventStoreLog(options: EventStoreLogOptions): Promise<EventLog> {
  const { openEventStoreLog: open } = await import('../../adapters/eventstore/open.ts')
  return open(options)
}
