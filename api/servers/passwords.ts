import pg from 'pg'
import type { ServersConfig } from '../app/config.ts'

/** The passwords of the two servers, as they stand in the settings and as the clients read them: no run may show them. */
export function passwordsOf({ eventstore, postgres }: Pick<ServersConfig, 'eventstore' | 'postgres'>): string[] {
  const { password } = new pg.Client({ connectionString: postgres })
  const written = [eventstore, postgres].flatMap(passwordsIn)
  return [...new Set([...written, ...(password ? [password] : [])])]
}

/** Before the last `@` of what names user and host, and in the query. */
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
