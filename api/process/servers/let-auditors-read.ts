import { openPool, PostgresHome } from '../../../projections/postgres.ts'
import type { Tell } from '../../operations/notices.ts'
import type { ServersConfig } from '../config/settings.ts'
import { askingPostgres } from './postgres-access.ts'
import { schemasOf } from './schema-names.ts'

/**
 * Lets a role read the live tables of the deployment, now and after every rebuild. Creates missing tables and a missing
 * role. `login`: also creates this login in the role, and returns a connection string with its password. Rejects with a
 * ProjectionError or a Problem that contains a remedy.
 */
export async function letAuditorsRead(
  config: ServersConfig,
  tell: Tell,
  { role, login }: { readonly role?: string; readonly login?: string },
) {
  const pool = openPool({ url: config.postgres, max: 2 })
  try {
    const home = new PostgresHome({ pool, schema: schemasOf(config.namespace).tables })
    await askingPostgres(config, tell, () => home.live())
    const granted = await home.grantAuditors(role)
    if (login === undefined) return { ...granted, url: null }
    return { ...granted, url: loginUrl(config.postgres, login, await home.makeLogin(granted.role, login)) }
  } finally {
    await pool.shut()
  }
}

/**
 * A connection string to the same database with another login. `URL` cannot parse a string with a user and without a
 * host, which PostgreSQL allows for a socket.
 */
export function loginUrl(postgres: string, login: string, password: string): string {
  const [, scheme, authority, path, query] = /^(\w+:\/\/)([^/?]*)([^?#]*)(?:\?([^#]*))?/.exec(postgres.trim())!
  // A password may contain an `@`: the host begins after the last one.
  const host = authority!.slice(authority!.lastIndexOf('@') + 1)
  const kept = (query ?? '').split('&').filter((part) => part !== '' && !isOfLogin(part))
  return `${scheme}${login}:${password}@${host}${path}${kept.length === 0 ? '' : `?${kept.join('&')}`}`
}

/** Whether a part of a query names the login. The name may be percent-encoded. */
const isOfLogin = (part: string): boolean =>
  ['user', 'password', 'sslpassword'].some((name) => new URLSearchParams(part).has(name))
