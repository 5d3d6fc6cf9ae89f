import { PostgresBlobs } from '../../../adapters/postgres/blobs.ts'
import { type RebuildOptions, type RebuildReport, rebuildElsewhere } from '../../../projections/index.ts'
import { openPool, PostgresHome } from '../../../projections/postgres.ts'
import type { ServersConfig } from '../config/config.ts'
import { Opened } from '../host/open-host.ts'
import { findLog, makeLog } from './open-log.ts'
import { askingPostgres } from './postgres-access.ts'
import { schemasOf } from './schemas.ts'

/**
 * Makes the tables again from the log, whatever is left of them, and with `takeOver` those of another log too; the process that moves them
 * goes on with the new ones. Rejects with a LogError, a ProjectionError or a Problem that says
 * what to do.
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
