import pg from 'pg'
import { ProjectionError } from '../../errors.ts'

// Classes of SQLSTATE after which the same may succeed on a new connection: 08 connection, 57P01–57P03 shutting down or
// starting up, 53300 too many connections, 40001 and 40P01 lost against another transaction.
const PASSING = /^(08...|57P0[123]|53300|40001|40P01)$/
const SYSTEM = /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOENT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/
// What the client says without a code, because the server did not come to say anything.
const UNSAID =
  /^(Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect|Client was closed)/

/** Whether it is the connection that failed: what was asked may have happened, or not. */
export function isLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return error instanceof pg.DatabaseError ? PASSING.test(code) : SYSTEM.test(code) || UNSAID.test(error.message)
}

/** SQLSTATE of an error that the server told; `''` for any other. */
export const stateOf = (error: unknown): string => (error instanceof pg.DatabaseError ? (error.code ?? '') : '')

/** The error of a caller who has waited long enough. */
export const unavailable = (cause: unknown) =>
  new ProjectionError(
    'UNAVAILABLE',
    `PostgreSQL does not answer (${cause instanceof Error ? cause.message : String(cause)}); ` +
      'see that it runs and that its address is right, then start again',
    { cause },
  )
