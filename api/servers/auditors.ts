import { openPool, PostgresHome } from '../../projections/postgres.ts'
import type { ServersConfig } from '../config.ts'
import { schemasOf } from './schemas.ts'

/**
 * Lets a role read the live tables of the deployment, now and after every rebuild; makes the tables and the role where they
 * are missing. Rejects with a ProjectionError that says what to do.
 */
export async function letAuditorsRead({ postgres, namespace }: ServersConfig, role?: string) {
  const pool = openPool({ url: postgres, max: 2 })
  try {
    const home = new PostgresHome({ pool, schema: schemasOf(namespace).tables })
    await home.live()
    return await home.grantAuditors(role)
  } finally {
    await pool.shut()
  }
}
