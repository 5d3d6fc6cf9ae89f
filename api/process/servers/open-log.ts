import type { EventStoreLog } from '../../../adapters/eventstore/log.ts'
import { openEventStoreLog } from '../../../adapters/eventstore/open.ts'
import type { EventStoreLogOptions } from '../../../adapters/eventstore/options.ts'
import { greet } from '../../../adapters/postgres/ask.ts'
import { LogError } from '../../../domain/log/errors.ts'
import { otherLog } from '../../../projections/index.ts'
import { openPool, PostgresHome, schemaOfOthers, schemasThere } from '../../../projections/postgres.ts'
import type { ServersConfig } from '../config/config.ts'
import { askingPostgres } from './postgres-access.ts'
import { schemasOf } from './schemas.ts'

interface Wishes extends Pick<EventStoreLogOptions, 'clock' | 'random' | 'onDoubt'> {
  warn(text: string): void
}

/** The log of a deployment, made where there is none. Rejects as `openEventStoreLog`. */
export const makeLog = (
  { eventstore: connectionString, namespace }: ServersConfig,
  wishes: Wishes,
): Promise<EventStoreLog> => openEventStoreLog({ ...wishes, connectionString, namespace })

/**
 * The log of a deployment; null: there is none, and PostgreSQL does not speak against making one. Tables of a log that the
 * event store does not hold tell that it is the wrong one, before anything is made there: `LOG_OTHER`. Schemas of another application
 * are a Problem. Else rejects as {@link makeLog}.
 */
export async function findLog(config: ServersConfig, wishes: Wishes): Promise<EventStoreLog | null> {
  const { eventstore: connectionString, namespace, postgres } = config
  const look = () => openEventStoreLog({ ...wishes, connectionString, namespace, looks: true })
  try {
    return await look()
  } catch (error) {
    if (!(error instanceof LogError && error.code === 'LOG_MISSING')) throw error
  }
  try {
    await askingPostgres(config, wishes.warn, () => mustBeFree(postgres, namespace))
    return null
  } catch (error) {
    // Another process may have made both meanwhile.
    return await look().catch(() => Promise.reject(error))
  }
}

async function mustBeFree(url: string, namespace: string): Promise<void> {
  const pool = openPool({ url, max: 1 })
  const schemas = schemasOf(namespace)
  try {
    await greet(pool)
    const { position } = await new PostgresHome({ pool, schema: schemas.tables }).look()
    if (position) throw otherLog(position.logId, null)
    for (const schema of await schemasThere(pool, Object.values(schemas)))
      if (!schema.open || isOfOthers(schema, MARKS[schema.name.slice(namespace.length) as keyof typeof MARKS]))
        throw schemaOfOthers(schema)
  } finally {
    await pool.shut()
  }
}

/** Tables that every schema of a deployment has; the check of the tables reports on the schema of the views. */
const MARKS = { _blobs: 'blobs', _leases: 'leases' } as const

const isOfOthers = ({ holds }: { readonly holds: readonly string[] }, mark: string | undefined): boolean =>
  mark !== undefined && holds.length > 0 && !holds.includes(mark)
