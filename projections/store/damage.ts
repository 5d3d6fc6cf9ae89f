import { ProjectionError } from '../errors.ts'
import { connect } from './database.ts'
import { liveFile } from './pointer.ts'

// SQLITE_CORRUPT and SQLITE_NOTADB.
const DAMAGED = [11, 26]
// SQLITE_READONLY and SQLITE_CANTOPEN: a reader, too, has to make a file beside one whose last writer has ended.
const CLOSED = [8, 14]

/** Whether SQLite says of a file that it is none of its own any more. */
export const isDamaged = (error: unknown): boolean => isOneOf(error, DAMAGED)

/** Whether SQLite says of a value that it is too long (SQLITE_TOOBIG). */
export const isTooBig = (error: unknown): boolean => isOneOf(error, [18])

const isOneOf = (error: unknown, codes: readonly number[]): boolean =>
  error instanceof Error &&
  'errcode' in error &&
  typeof error.errcode === 'number' &&
  codes.includes(error.errcode & 0xff)

/** An error as it is, or `DAMAGED` where SQLite says that the tables' file is. */
export function damagedOr(error: unknown): unknown {
  if (!isDamaged(error)) return error
  const why = 'the tables are damaged; they come back from the log: run "keepup rebuild"'
  return new ProjectionError('DAMAGED', why, { cause: error })
}

/** False where there are no live tables to read, or not as they were written; only a writer makes them anew. */
export function tablesReadable(folder: string): boolean {
  const file = liveFile(folder)
  if (file === null) return false
  try {
    const { raw, close } = connect(file, 'read')
    try {
      raw.prepare('select 1 from position').get()
      return true
    } finally {
      close()
    }
  } catch (error) {
    if (isOneOf(error, [...DAMAGED, ...CLOSED])) return false
    throw error
  }
}
