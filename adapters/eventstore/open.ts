import { randomBytes } from 'node:crypto'
import { LogError } from '../../domain/log/errors.ts'
import { logIdOf, sealIdentity } from '../../domain/log/identity.ts'
import { Appender } from './append.ts'
import { connectEventStore, disconnect } from './connection.ts'
import { parseAddress } from './connection-string.ts'
import { Continuity } from './continuity.ts'
import { Cursors } from './cursor.ts'
import { Strays } from './foreign-events.ts'
import { EventStoreLog } from './log.ts'
import { identify } from './log-identity.ts'
import type { LogParts } from './log-parts.ts'
import type { EventStoreLogOptions } from './options.ts'
import { checkServer } from './protocol-check.ts'
import { StreamReader } from './read.ts'
import { LIMITS } from './retry.ts'
import { Known } from './seen-events.ts'

/**
 * Opens the log of a namespace on an EventStoreDB (tested with 23.10), and creates the log if necessary. Rejects with a
 * LogError that names the remedy: `LOG_REFUSED` (connection string, credentials, scheme, version), `LOG_UNAVAILABLE`,
 * `LOG_FOREIGN`, `LOG_NEWER`, `LOG_CORRUPT`, or `LOG_MISSING` (`looks` is set and there is no log).
 */
export async function openEventStoreLog(options: EventStoreLogOptions): Promise<EventStoreLog> {
  const { namespace } = options
  if (!/^[a-z][a-z0-9]*$/.test(namespace))
    throw new LogError('LOG_REFUSED', `the namespace "${namespace}" is not a lower-case letter and letters or digits`)
  const limits = { ...LIMITS, ...options.limits }
  const connection = connectEventStore(parseAddress(options.connectionString), limits.callMs)
  const closed = new AbortController()
  const strays = new Strays(namespace, options.warn ?? (() => undefined))
  const { onDoubt } = options
  const known = new Known(() => {
    reader.tips.forget()
    // The owner reports its findings itself.
    onDoubt?.().catch(() => undefined)
  })
  const place: LogParts = { connection, namespace, limits, closed: closed.signal, known, strays }
  const reader = new StreamReader(place)
  const appender = new Appender(place, reader)
  const end = async () => {
    closed.abort(new LogError('LOG_CLOSED', `the log ${namespace} was closed; open it again`))
    await appender.drained()
    await disconnect(connection)
  }
  try {
    await checkServer(connection, limits, options.warn)
    const identity = await identify(reader, appender, namespace, () => {
      if (options.looks)
        throw new LogError('LOG_MISSING', `there is no log of ${namespace} yet; the first start makes it`)
      const now = new Date(options.clock?.now() ?? Date.now()).toISOString()
      return sealIdentity(options.random?.bytes(26) ?? randomBytes(26), now)
    })
    const cursors = new Cursors(place, identity, logIdOf(identity))
    const continuity = new Continuity({ cursors, known, onDoubt })
    appender.mustHold = (call) => continuity.mustHold(call)
    return new EventStoreLog({ place, reader, appender, cursors }, end)
  } catch (error) {
    await end()
    throw error
  }
}
