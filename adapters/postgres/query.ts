import type { Pool, QueryResult, QueryResultRow } from 'pg'
import { connectionLost, sqlState } from '../../domain/log/connection-lost.ts'
import { LogError, type LogErrorCode } from '../../domain/log/errors.ts'

type Said = readonly [RegExp, LogErrorCode, string]

/** Error codes and remedies by SQLSTATE. */
const SAID: readonly Said[] = [
  [/^53100$/, 'LOG_FULL', 'make room on the disk of PostgreSQL and try again'],
  [
    /^(28...|3D000)$/,
    'LOG_REFUSED',
    'see user, password and database of the connection string that this process was started with',
  ],
  [/^(42501|3F000|42P01)$/, 'LOG_REFUSED', 'see the rights of this user, and what became of the table'],
  [/^25006$/, 'LOG_REFUSED', 'this PostgreSQL takes no writes (a standby, or set so); name the one that does'],
  [/^(57014|55P03)$/, 'LOG_UNAVAILABLE', "see what holds its tables, and let this user's statements take longer"],
]

/** Any other error: the outcome is unknown. */
const UNKNOWN: Said = [/^/, 'LOG_UNAVAILABLE', 'see that PostgreSQL runs']

/** The waits between attempts, in ms. Together they are long enough for a restart of the server. */
const WAITS = [0, 50, 200, 500, 1000, 2000, 4000]

/**
 * Runs one idempotent statement, and repeats it after a lost connection. Rejects with LogError LOG_UNAVAILABLE,
 * LOG_FULL or LOG_REFUSED. `what` names the action in the message: "read the blob …".
 */
export async function ask<R extends QueryResultRow>(
  pool: Pool,
  what: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<QueryResult<R>> {
  return askPatiently(what, () => pool.query<R>(text, values as unknown[]))
}

const LONGEST_WAIT = WAITS.at(-1)!
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * Runs any idempotent work like {@link ask}. `withinMs`: the time for further attempts, in ms. Default: the sum of the
 * waits.
 */
export async function askPatiently<T>(what: string, work: () => Promise<T>, withinMs?: number): Promise<T> {
  const end = performance.now() + (withinMs ?? Number.POSITIVE_INFINITY)
  const last = withinMs === undefined ? undefined : LONGEST_WAIT
  for (let tries = 0; ; tries++) {
    try {
      return await work()
    } catch (error) {
      const wait = connectionLost(error) && performance.now() < end ? (WAITS[tries] ?? last) : undefined
      if (wait === undefined) throw failed(what, error)
      await sleep(wait)
    }
  }
}

/** Waits up to about `withinMs` until the server accepts a connection of this user. Rejects like {@link ask}. */
export function waitForServer(pool: Pick<Pool, 'connect'>, withinMs = 10_000): Promise<void> {
  return askPatiently('connect to PostgreSQL', async () => (await pool.connect()).release(), withinMs)
}

function failed(what: string, error: unknown): unknown {
  if (error instanceof LogError || error instanceof RangeError) return error
  const said = error instanceof Error ? error.message : String(error)
  const known = SAID.find(([state]) => state.test(sqlState(error)))
  const [, code, todo] = known ?? UNKNOWN
  return new LogError(code, `cannot ${what}: ${said}; ${todo}`, { cause: error })
}
