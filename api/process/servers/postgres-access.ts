import { LogError } from '../../../domain/log/errors.ts'
import { ProjectionError } from '../../../projections/engine/errors.ts'
import type { Tell } from '../../operations/notices.ts'
import { Problem } from '../../operations/problem.ts'
import type { ServersConfig } from '../config/settings.ts'

const SETTING = 'KEEPUP_POSTGRES'
/** The time after which the operator learns that keepup waits for PostgreSQL, in ms. */
const TOLD_AFTER_MS = 1_500

/** The parts of a connection string without secrets. Null: it is not a connection string. */
function placeOf(url: string) {
  // A unix socket's folder is in the parameter `host`, and the host part of the URL is then empty.
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

/** The remedy for an error code of the client or the server: an SQLSTATE, or a system error code. */
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

/** The client's or server's error at the root of a chain of causes. */
function rootOf(error: unknown): Error | null {
  if (!(error instanceof Error)) return null
  return error.cause instanceof Error && codeOf(error) !== 'ETIMEDOUT' ? rootOf(error.cause) : error
}

/** Whether PostgreSQL itself is unavailable, independent of the query. */
function isRefused(error: unknown): boolean {
  if (error instanceof LogError) return error.code === 'LOG_UNAVAILABLE' || error.code === 'LOG_REFUSED'
  if (error instanceof ProjectionError) return error.code === 'UNAVAILABLE' || error.code === 'REFUSED'
  const isNoUrl = error instanceof URIError || (error instanceof Error && codeOf(error) === 'ERR_INVALID_URL')
  return isNoUrl || (error instanceof Error && knownOf(error) !== undefined)
}

const codeOf = (error: Error): string => ('code' in error ? String(error.code) : '')
const knownOf = (error: Error) => TO_DO.find(([code]) => code.test(codeOf(error)))

/**
 * Converts an error of an unusable PostgreSQL to a Problem with the server and a remedy. Returns any other error
 * unchanged.
 */
export function postgresProblem(error: unknown, { postgres }: Pick<ServersConfig, 'postgres'>): unknown {
  if (!isRefused(error)) return error
  const place = placeOf(postgres)
  if (place === null) {
    const todo = 'what is no letter or digit in user and password is written with percent signs (@ as %40)'
    return new Problem('POSTGRES_UNAVAILABLE', `${SETTING} is no connection string; ${todo}`)
  }
  const root = rootOf(error)
  // keepup's own errors already contain a remedy.
  if (root === null || (root === error && knownOf(root) === undefined)) return error
  const known = knownOf(root)?.[1]
  if (known === undefined && error instanceof ProjectionError && error.code === 'REFUSED') return error
  const code = codeOf(root)
  const found = `PostgreSQL at ${place.at}, database ${place.database} (${SETTING}): ${root.message || code}`
  return new Problem('POSTGRES_UNAVAILABLE', `${found}; ${known?.(place) ?? otherwise(code)}`)
}

/** Runs work that needs PostgreSQL. Rejects with {@link postgresProblem}. Reports once when the work has to wait. */
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
