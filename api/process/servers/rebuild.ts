import { PostgresBlobs } from '../../../adapters/postgres/blobs.ts'
import { type RebuildOptions, type RebuildReport, rebuildElsewhere } from '../../../projections/index.ts'
import { openPool, PostgresHome } from '../../../projections/postgres.ts'
import type { ServersConfig } from '../config/settings.ts'
import { Opened } from '../host/open-host.ts'
import { findLog, makeLog } from './open-log.ts'
import { askingPostgres } from './postgres-access.ts'
import { schemasOf } from './schema-names.ts'

/**
 * Rebuilds the tables from the log in any state of the tables; with `takeOver` also tables of another log. The process
 * that updates the tables continues with the new ones. Rejects with a LogError, a ProjectionError or a Problem that
 * contains a remedy.
 */
export async function rebuildOnServers(
  config: ServersConfig,
  wishes: RebuildOptions,
  warn: (text: string) => void,
): Promise<RebuildReport> {
  const { postgres: url, namespace } = config
  const opened = new Opened()
  try {
    const log = (wishes.takeOver ? null : await findLog(config, { warn })) ?? (await makeLog(config, { warn }))
    opened.push(() => log.close())
    const pool = openPool({ url })
    opened.push(() => pool.shut())
    const schemas = schemasOf(namespace)
    const blobs = await askingPostgres(config, warn, () => PostgresBlobs.open({ pool, schema: schemas.blobs }))
    const home = new PostgresHome({ pool, schema: schemas.tables, warn })
    return await rebuildElsewhere(home, { log, blobs }, wishes)
  } finally {
    await opened.closeAll()
  }
}
