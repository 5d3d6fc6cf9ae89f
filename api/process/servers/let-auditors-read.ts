import { openPool, PostgresHome } from '../../../projections/postgres.ts'
import type { Tell } from '../../operations/notices.ts'
import type { ServersConfig } from '../config/settings.ts'
import { askingPostgres } from './postgres-access.ts'
import { schemasOf } from './schema-names.ts'

/**
 * Lets a role read the live tables of the deployment, now and after every rebuild. Creates missing tables and a missing
 * role. Rejects with a ProjectionError or a Problem that contains a remedy.
 */
export async function letAuditorsRead(config: ServersConfig, tell: Tell, role?: string) {
  const pool = openPool({ url: config.postgres, max: 2 })
  try {
    const home = new PostgresHome({ pool, schema: schemasOf(config.namespace).tables })
    await askingPostgres(config, tell, () => home.live())
    return await home.grantAuditors(role)
  } finally {
    await pool.shut()
  }
}
