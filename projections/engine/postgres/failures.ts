import pg from 'pg'
import { connectionLost } from '../../../domain/log/connection-lost.ts'
import { ProjectionError, type ProjectionErrorCode } from '../errors.ts'
import type { SchemaLook } from './catalog.ts'

/** SQLSTATE of a server error; `''` for any other error. */
export const stateOf = (error: unknown): string => (error instanceof pg.DatabaseError ? (error.code ?? '') : '')

// Errors of writers and readers on tables that were altered.
const ALTERED = /^(42P01|42703|42804|42883|42P10|3F000|23502|23514|23505|23503)$/
// Unknown user or database, or missing privilege.
const REFUSED = /^(28...|3D000|42501)$/

// A standby, or a user, database or server that is set to read-only.
const READ_ONLY = '25006'

// Disk or memory of the server is full.
const FULL = /^(53100|53200)$/
// Cancelled by an operator or a time limit of the server, or a lock was not available.
const GIVEN_UP = /^(57014|55P03)$/

// The schema to create already exists.
const TAKEN = '42P06'

const NAMED = 3

/** The error for a foreign schema that has the name of one of ours; it names owner and content. */
export function schemaOfOthers({ name, owner, holds }: SchemaLook): ProjectionError {
  const more = holds.length > NAMED ? ` and ${holds.length - NAMED} more` : ''
  const held = holds.length === 0 ? 'nothing' : `${holds.slice(0, NAMED).join(', ')}${more}`
  return schemaTaken(`schema "${name}" already exists, belongs to the role ${owner} and holds ${held}`)
}

/** The error when another application uses the place of the tables. `said`: the server's message, or the reason. */
export const schemaTaken = (said: string, cause?: unknown) =>
  new ProjectionError(
    'REFUSED',
    `the tables cannot be made (${said}, and no tables of ours are there); it is left as it is: set another namespace, or drop that schema`,
    { cause },
  )

/** Converts an error with a known remedy to a ProjectionError; returns any other error unchanged. */
export function named(error: unknown): unknown {
  const said = error instanceof Error ? error.message : String(error)
  const ours = (code: ProjectionErrorCode, message: string) => new ProjectionError(code, message, { cause: error })
  if (connectionLost(error)) {
    return ours(
      'UNAVAILABLE',
      `PostgreSQL does not answer (${said}); see that it runs and that its address is right; it is asked again and again`,
    )
  }
  if (FULL.test(stateOf(error))) {
    return ours(
      'FULL',
      `PostgreSQL has no room (${said}); make room on its disk: nothing is lost, and it goes on by itself`,
    )
  }
  if (GIVEN_UP.test(stateOf(error))) {
    return ours(
      'UNAVAILABLE',
      `PostgreSQL has given up (${said}); see what holds its tables, and let this user's statements take longer`,
    )
  }
  if (ALTERED.test(stateOf(error))) {
    return ours('SCHEMA_OTHER', `the tables are not as this program made them (${said}); rebuild them from the log`)
  }
  if (stateOf(error) === TAKEN) return schemaTaken(said, error)
  if (stateOf(error) === READ_ONLY)
    return ours('REFUSED', `this PostgreSQL takes no writes (${said}); name the one that does, or let it take them`)
  if (REFUSED.test(stateOf(error))) {
    return ours(
      'REFUSED',
      `PostgreSQL refuses it (${said}); see user, password and database that this process was started with, and its rights there`,
    )
  }
  return error
}
