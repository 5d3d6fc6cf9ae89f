import { statSync } from 'node:fs'
import { ProjectionError } from '../errors.ts'
import { TABLES_VERSION } from '../schema/migrations.ts'
import { connectSqlite } from './database.ts'
import { liveFile } from './pointer.ts'

// SQLITE_CORRUPT and SQLITE_NOTADB.
const DAMAGED = [11, 26]
// SQLITE_READONLY and SQLITE_CANTOPEN: even a reader must create a file next to a database whose last writer has ended.
const CLOSED = [8, 14]

/** Whether SQLite reports a file as damaged. */
export const isDamagedFile = (error: unknown): boolean => isOneOf(error, DAMAGED)

/** Whether SQLite refuses a value as too long (SQLITE_TOOBIG). */
export const isTooBig = (error: unknown): boolean => isOneOf(error, [18])

const isOneOf = (error: unknown, codes: readonly number[]): boolean =>
  error instanceof Error &&
  'errcode' in error &&
  typeof error.errcode === 'number' &&
  codes.includes(error.errcode & 0xff)

/** Converts an error about a damaged tables file to `DAMAGED`; returns any other error unchanged. */
export function damagedOr(error: unknown): unknown {
  if (!isDamagedFile(error)) return error
  const why = 'the tables are damaged; they come back from the log: run "keepup rebuild"'
  return new ProjectionError('DAMAGED', why, { cause: error })
}

/** Throws `DAMAGED` when a tables file is missing or empty: SQLite would treat it as a new one. */
export function mustHoldTables(file: string): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size
  if (size !== undefined && size > 0) return
  const what = size === undefined ? 'is missing' : 'is empty'
  throw new ProjectionError(
    'DAMAGED',
    `the tables file ${file} ${what}; the tables come back from the log: run "keepup rebuild"`,
  )
}

/** The error of reading a tables file; null: it is readable. */
function readFault(file: string): unknown {
  try {
    const { raw, close } = connectSqlite(file, 'read')
    try {
      const made = raw.prepare("select 1 from sqlite_schema where name = 'position'").get()
      if (made === undefined) return new ProjectionError('DAMAGED', 'it contains no tables')
      raw.prepare('select 1 from position').get()
      return null
    } finally {
      close()
    }
  } catch (error) {
    return error
  }
}

/** A fault of the live tables' file; null: no fault, or no file. */
export function tablesFault(folder: string): { readonly file: string; readonly why: string } | null {
  const file = liveFile(folder)
  if (file === null) return null
  const size = statSync(file, { throwIfNoEntry: false })?.size
  if (size === undefined) return { file, why: 'it is missing' }
  if (size === 0) return { file, why: 'it is empty' }
  const fault = readFault(file)
  if (fault === null || isOneOf(fault, CLOSED)) return null
  return { file, why: fault instanceof Error ? fault.message : String(fault) }
}

/** False when the live tables are missing or damaged; only a writer rebuilds them. */
export function tablesReadable(folder: string): boolean {
  const file = liveFile(folder)
  // An empty live file has lost its content, because a file becomes live only after its tables exist.
  if (file === null || (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0) return false
  const fault = readFault(file)
  const isUnreadable = fault instanceof ProjectionError || isOneOf(fault, [...DAMAGED, ...CLOSED])
  if (fault !== null && !isUnreadable) throw fault
  return fault === null
}

/** False when the live tables are missing, damaged or of another version of this program, which only a writer replaces. */
export function tablesUsable(folder: string): boolean {
  if (!tablesReadable(folder)) return false
  const { raw, close } = connectSqlite(liveFile(folder)!, 'read')
  try {
    return Number(raw.prepare('pragma user_version').get()?.user_version) === TABLES_VERSION
  } finally {
    close()
  }
}
