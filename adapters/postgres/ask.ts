import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool, QueryResult, QueryResultRow } from 'pg'
import { LogError } from '../../domain/log/errors.ts'

const FULL = '53100'
// The connection, not the request: SQLSTATE of connections, shutting down, starting up, hung, too many clients; then the
// system's.
const LOST = /^(08...|57P0[123]|25P03|53300|ECONN\w+|EPIPE|ETIMEDOUT|ENOENT|ENOTFOUND|EAI_AGAIN|E(HOST|NET)UNREACH)$/
// What the client says without a code.
const UNSAID = /^(Connection terminated|timeout exceeded when trying to connect|Client (was closed|has encountered))/

/** Waits between tries (ms): long enough for a server that is restarted. */
const WAITS = [0, 50, 200, 500, 1000, 2000, 4000]

/**
 * One statement whose repetition changes nothing, repeated where the connection was lost. Rejects with `LOG_UNAVAILABLE` or
 * `LOG_FULL`. `what`: "read the blob …".
 */
export async function ask<R extends QueryResultRow>(
  pool: Pool,
  what: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<QueryResult<R>> {
  return patiently(what, () => pool.query<R>(text, values as unknown[]))
}

/** {@link ask}, of anything that may be done again. */
export async function patiently<T>(what: string, work: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await work()
    } catch (error) {
      const wait = isLost(error) ? WAITS[tries] : undefined
      if (wait === undefined) throw failed(what, error)
      await sleep(wait)
    }
  }
}

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : '')

const isLost = (error: unknown) => LOST.test(codeOf(error)) || (error instanceof Error && UNSAID.test(error.message))

function failed(what: string, error: unknown): unknown {
  if (error instanceof LogError || error instanceof RangeError) return error
  const told = `cannot ${what}: ${error instanceof Error ? error.message : String(error)}`
  if (codeOf(error) === FULL)
    return new LogError('LOG_FULL', `${told}; make room on the disk of PostgreSQL and try again`, { cause: error })
  return new LogError('LOG_UNAVAILABLE', `${told}; see that PostgreSQL runs and that this user may write there`, {
    cause: error,
  })
}
