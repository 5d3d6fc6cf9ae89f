import pg from 'pg'
import type { ServersConfig } from '../config/settings.ts'

/** The servers' passwords, as written in the settings and as the clients decode them. All runs must hide them. */
export function passwordsOf({
  eventstore,
  postgres,
  auditPostgres = null,
}: Pick<ServersConfig, 'eventstore' | 'postgres'> & Partial<Pick<ServersConfig, 'auditPostgres'>>): string[] {
  const logins = [postgres, ...(auditPostgres === null ? [] : [auditPostgres])]
  const read = logins.flatMap((connectionString) => new pg.Client({ connectionString }).password ?? [])
  const written = [eventstore, ...logins].flatMap(passwordsIn)
  return [...new Set([...written, ...read])]
}

/** Passwords before the last `@` of the authority, and in the query. */
function passwordsIn(text: string): string[] {
  const found = [/^[^/]*\/\/[^/?#:]*:([^/?#]*)@/, /[?&]password=([^&#]*)/].map((place) => place.exec(text)?.[1])
  return found.flatMap((password) => (password ? [password, decoded(password)] : []))
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
