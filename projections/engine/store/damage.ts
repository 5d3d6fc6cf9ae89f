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

/** The error of reading a tables file; otherwise the version of its tables. */
function readVersion(file: string): { readonly fault: unknown } | { readonly version: number } {
  try {
    const { raw, close } = connectSqlite(file, 'read')
    try {
      const made = raw.prepare("select 1 from sqlite_schema where name = 'position'").get()
      if (made === undefined) return { fault: new ProjectionError('DAMAGED', 'it contains no tables') }
      raw.prepare('select 1 from position').get()
      return { version: Number(raw.prepare('pragma user_version').get()?.user_version) }
    } finally {
      close()
    }
  } catch (error) {
    return { fault: error }
  }
}

/** A fault of the live tables' file; null: no fault, or no file. */
export function tablesFault(folder: string): { readonly file: string; readonly why: string } | null {
  const file = liveFile(folder)
  if (file === null) return null
  const size = statSync(file, { throwIfNoEntry: false })?.size
  if (size === undefined) return { file, why: 'it is missing' }
  if (size === 0) return { file, why: 'it is empty' }
  const read = readVersion(file)
  if ('version' in read || isOneOf(read.fault, CLOSED)) return null
  const { fault } = read
  return { file, why: fault instanceof Error ? fault.message : String(fault) }
}

/** The version of the live tables. Null: they are missing or damaged; only a writer rebuilds them. */
function liveVersion(folder: string): number | null {
  const file = liveFile(folder)
  // An empty live file has lost its content, because a file becomes live only after its tables exist.
  if (file === null || (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0) return null
  const read = readVersion(file)
  if ('version' in read) return read.version
  const { fault } = read
  if (!(fault instanceof ProjectionError) && !isOneOf(fault, [...DAMAGED, ...CLOSED])) throw fault
  return null
}

/** False when the live tables are missing or damaged. */
export const tablesReadable = (folder: string): boolean => liveVersion(folder) !== null

/** False when the live tables are missing, damaged or of another version of this program, which only a writer replaces. */
export const tablesUsable = (folder: string): boolean => liveVersion(folder) === TABLES_VERSION
