import { openEventStoreLog } from '../../adapters/log-eventstore/open.ts'
import type { EventStoreLogOptions } from '../../adapters/log-eventstore/options.ts'
import { greet } from '../../adapters/postgres/ask.ts'
import { LogError } from '../../domain/log/errors.ts'
import type { EventLog } from '../../domain/ports.ts'
import { otherLog } from '../../projections/index.ts'
import { openPool, PostgresHome } from '../../projections/postgres.ts'
import type { ServersConfig } from '../config.ts'
import { askingPostgres } from './postgres-door.ts'
import { schemasOf } from './schemas.ts'

interface Wishes extends Pick<EventStoreLogOptions, 'clock' | 'random'> {
  warn(text: string): void
}

/** The log of a deployment, made where there is none. Rejects as `openEventStoreLog`. */
export const makeLog = (
  { eventstore: connectionString, namespace }: ServersConfig,
  wishes: Wishes,
): Promise<EventLog> => openEventStoreLog({ ...wishes, connectionString, namespace })

/**
 * The log of a deployment; null: there is none, and no tables speak against making one. Those of a log that the event store
 * does not hold tell that it is the wrong one, before anything is made there: `LOG_OTHER`. Else rejects as {@link makeLog}.
 */
export async function findLog(config: ServersConfig, wishes: Wishes): Promise<EventLog | null> {
  const { eventstore: connectionString, namespace, postgres } = config
  try {
    return await openEventStoreLog({ ...wishes, connectionString, namespace, looks: true })
  } catch (error) {
    if (!(error instanceof LogError && error.code === 'LOG_MISSING')) throw error
  }
  await askingPostgres(config, wishes.warn, () => refuseTablesOfAnother(postgres, namespace))
  return null
}

async function refuseTablesOfAnother(url: string, namespace: string): Promise<void> {
  const pool = openPool({ url, max: 1 })
  try {
    await greet(pool)
    const { position } = await new PostgresHome({ pool, schema: schemasOf(namespace).tables }).look()
    if (position) throw otherLog(position.logId, null)
  } finally {
    await pool.shut()
  }
}
