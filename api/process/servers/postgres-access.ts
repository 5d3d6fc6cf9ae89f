import { LogError } from '../../../domain/log/errors.ts'
import { ProjectionError } from '../../../projections/engine/errors.ts'
import type { Tell } from '../../operations/notices.ts'
import { Problem } from '../../operations/problem.ts'
import type { ServersConfig } from '../config/config.ts'

const SETTING = 'KEEPUP_POSTGRES'
/** The operator is told after so long that PostgreSQL is waited for, ms. */
const TOLD_AFTER_MS = 1_500

/** The parts of a connection string that may be shown; null: it is none. */
function placeOf(url: string) {
  // A socket's folder stands in `host`, and then nothing where a host would.
  const whole = url.replace('@/', '@localhost/')
  if (!URL.canParse(whole)) return null
  const { hostname, port, pathname, searchParams, username } = new URL(whole)
  const host = searchParams.get('host') ?? hostname
  try {
    const user = decodeURIComponent(username) || 'your own name'
    const database = decodeURIComponent(pathname.slice(1)) || user
    return { at: `${host || 'this host'}:${port || 5432}`, database, user }
  } catch {
    return null
  }
}

type Place = NonNullable<ReturnType<typeof placeOf>>

/** The advice for an error of the client or of the server, by its code: an SQLSTATE, or one of the system. */
const TO_DO: readonly (readonly [RegExp, (place: Place) => string])[] = [
  [/^28/, ({ user }) => `see the user (${user}) and the password in ${SETTING}, and pg_hba.conf of the server`],
  [/^3D000$/, ({ database }) => `make the database (createdb ${database}), or name another one in ${SETTING}`],
  [
    /^42501$/,
    ({ database, user }) =>
      `name the user that owns the schemas in ${SETTING}; where there are none yet, let the owner of the database: ` +
      `grant create on database "${database}" to "${user}"`,
  ],
  [/^53300$/, () => 'let max_connections of the server be greater: a process of keepup holds up to 12'],
  [/^25006$/, () => 'this server takes no writes (a standby, or set so): name the one that does'],
  [/^ETIMEDOUT$/, () => 'it takes connections and does not answer; see whether it hangs, and what is on the way to it'],
  [/^ECONNRESET$/, () => 'see that what listens there is PostgreSQL, and look into its log'],
]

const LOST = /^(08...|57P0.|E[A-Z]+|EAI_AGAIN|)$/
const otherwise = (code: string): string =>
  LOST.test(code) ? `see that PostgreSQL runs there and that ${SETTING} names it` : 'the log of the server says more'

/** The error of the client or the server at the root of ours. */
function rootOf(error: unknown): Error | null {
  if (!(error instanceof Error)) return null
  return error.cause instanceof Error && codeOf(error) !== 'ETIMEDOUT' ? rootOf(error.cause) : error
}

/** Whether PostgreSQL itself is unavailable, for any of its users here. */
function isRefused(error: unknown): boolean {
  if (error instanceof LogError) return error.code === 'LOG_UNAVAILABLE' || error.code === 'LOG_REFUSED'
  if (error instanceof ProjectionError) return error.code === 'UNAVAILABLE' || error.code === 'REFUSED'
  const isNoUrl = error instanceof URIError || (error instanceof Error && codeOf(error) === 'ERR_INVALID_URL')
  return isNoUrl || (error instanceof Error && knownOf(error) !== undefined)
}

const codeOf = (error: Error): string => ('code' in error ? String(error.code) : '')
const knownOf = (error: Error) => TO_DO.find(([code]) => code.test(codeOf(error)))

/** An error from a PostgreSQL that cannot be used as one that names it and says what to do; any other as it is. */
export function postgresProblem(error: unknown, { postgres }: Pick<ServersConfig, 'postgres'>): unknown {
  if (!isRefused(error)) return error
  const place = placeOf(postgres)
  if (place === null) {
    const todo = 'what is no letter or digit in user and password is written with percent signs (@ as %40)'
    return new Problem('POSTGRES_UNAVAILABLE', `${SETTING} is no connection string; ${todo}`)
  }
  const root = rootOf(error)
  // Our own refusals say what to do.
  if (root === null || (root === error && knownOf(root) === undefined)) return error
  const known = knownOf(root)?.[1]
  if (known === undefined && error instanceof ProjectionError && error.code === 'REFUSED') return error
  const code = codeOf(root)
  const found = `PostgreSQL at ${place.at}, database ${place.database} (${SETTING}): ${root.message || code}`
  return new Problem('POSTGRES_UNAVAILABLE', `${found}; ${known?.(place) ?? otherwise(code)}`)
}

/** Does what needs PostgreSQL; rejects with {@link postgresProblem}. Tells once where it is waited for. */
export async function askingPostgres<T>(config: ServersConfig, tell: Tell, work: () => Promise<T>): Promise<T> {
  const at = placeOf(config.postgres)?.at ?? ''
  const waits = `PostgreSQL at ${at} does not answer yet; keepup asks again`
  const timer = setTimeout(() => tell(waits), TOLD_AFTER_MS)
  try {
    return await work()
  } catch (error) {
    throw postgresProblem(error, config)
  } finally {
    clearTimeout(timer)
  }
}
