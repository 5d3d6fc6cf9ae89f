import type { EventStoreLog } from '../../../adapters/eventstore/log.ts'
import { openEventStoreLog } from '../../../adapters/eventstore/open.ts'
import type { EventStoreLogOptions } from '../../../adapters/eventstore/options.ts'
import { waitForServer } from '../../../adapters/postgres/query.ts'
import { LogError } from '../../../domain/log/errors.ts'
import { otherLog } from '../../../projections/index.ts'
import { openPool, PostgresHome, schemaOfOthers, schemasThere } from '../../../projections/postgres.ts'
import type { ServersConfig } from '../config/settings.ts'
import { askingPostgres } from './postgres-access.ts'
import { schemasOf } from './schema-names.ts'

interface Wishes extends Pick<EventStoreLogOptions, 'clock' | 'random' | 'onDoubt'> {
  warn(text: string): void
}

/** Opens the log of a deployment, and creates a missing one. Rejects like `openEventStoreLog`. */
export const makeLog = (
  { eventstore: connectionString, namespace }: ServersConfig,
  wishes: Wishes,
): Promise<EventStoreLog> => openEventStoreLog({ ...wishes, connectionString, namespace })

/**
 * Finds the log of a deployment. Null: there is none, and PostgreSQL contains nothing that forbids creating one.
 * Rejects with `LOG_OTHER`, before anything is created, if the tables belong to a log that the event store does not
 * contain, because the event store is then the wrong one. Rejects with a Problem if another application owns the
 * schemas. Otherwise rejects like {@link makeLog}.
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
    // Another process may have created both since.
    return await look().catch(() => Promise.reject(error))
  }
}

async function mustBeFree(url: string, namespace: string): Promise<void> {
  const pool = openPool({ url, max: 1 })
  const schemas = schemasOf(namespace)
  try {
    await waitForServer(pool)
    const { position } = await new PostgresHome({ pool, schema: schemas.tables }).look()
    if (position) throw otherLog(position.logId, null)
    for (const schema of await schemasThere(pool, Object.values(schemas)))
      if (!schema.open || isOfOthers(schema, MARKS[schema.name.slice(namespace.length) as keyof typeof MARKS]))
        throw schemaOfOthers(schema)
  } finally {
    await pool.shut()
  }
}

/** Tables in every schema of a deployment. The check of the tables covers the schema of the views. */
const MARKS = { _blobs: 'blobs', _leases: 'leases', _proof: 'tree' } as const

const isOfOthers = ({ holds }: { readonly holds: readonly string[] }, mark: string | undefined): boolean =>
  mark !== undefined && holds.length > 0 && !holds.includes(mark)
