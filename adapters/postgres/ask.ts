import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool, QueryResult, QueryResultRow } from 'pg'
import { LogError } from '../../domain/log/errors.ts'
import { connectionLost, sqlState } from '../../domain/log/lost.ts'

const FULL = '53100'
// No such user, database, right, schema or table.
const REFUSED = /^(28...|3D000|42501|3F000|42P01)$/

/** Waits between tries (ms): long enough for a server that is restarted. */
const WAITS = [0, 50, 200, 500, 1000, 2000, 4000]

/**
 * One statement whose repetition changes nothing, repeated where the connection was lost. Rejects with `LOG_UNAVAILABLE`,
 * `LOG_FULL` or `LOG_REFUSED`. `what`: "read the blob …".
 */
export async function ask<R extends QueryResultRow>(
  pool: Pool,
  what: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<QueryResult<R>> {
  return patiently(what, () => pool.query<R>(text, values as unknown[]))
}

/** {@link ask}, of anything that may be done again; `withinMs`: after so long it is not tried again. */
export async function patiently<T>(
  what: string,
  work: () => Promise<T>,
  withinMs = Number.POSITIVE_INFINITY,
): Promise<T> {
  const end = performance.now() + withinMs
  for (let tries = 0; ; tries++) {
    try {
      return await work()
    } catch (error) {
      const wait = connectionLost(error) && performance.now() < end ? WAITS[tries] : undefined
      if (wait === undefined) throw failed(what, error)
      await sleep(wait)
    }
  }
}

/** Makes sure that there is a server that lets this user in, which is waited for `withinMs` or little longer. */
export function greet(pool: Pool, withinMs = 10_000): Promise<void> {
  return patiently('connect to PostgreSQL', async () => (await pool.connect()).release(), withinMs)
}

function failed(what: string, error: unknown): unknown {
  if (error instanceof LogError || error instanceof RangeError) return error
  const told = `cannot ${what}: ${error instanceof Error ? error.message : String(error)}`
  if (sqlState(error) === FULL)
    return new LogError('LOG_FULL', `${told}; make room on the disk of PostgreSQL and try again`, { cause: error })
  if (REFUSED.test(sqlState(error)))
    return new LogError('LOG_REFUSED', `${told}; see the user and its rights, and what became of the table`, {
      cause: error,
    })
  return new LogError('LOG_UNAVAILABLE', `${told}; see that PostgreSQL runs`, { cause: error })
}
