import { LogError } from '../../../domain/log/errors.ts'

const READONLY = 8
const CORRUPT = 11
const FULL = 13
const CANTOPEN = 14
const NOTADB = 26
const IOERR_SHMSIZE = 4874

/** SQLite's extended result code of an error; 0 if the error is not SQLite's. */
export function sqliteCode(error: unknown): number {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : 0
}

/**
 * Converts an error of SQLite or the file system to a LogError with a remedy. `what` names the action: "append", "read"
 * …
 */
export function toLogError(error: unknown, what: string, folder: string): LogError {
  if (error instanceof LogError) return error
  const code = sqliteCode(error)
  const system = error instanceof Error && 'code' in error ? String(error.code) : ''
  const told = `cannot ${what} the log in ${folder}: ${error instanceof Error ? error.message : String(error)}`
  const make = (name: ConstructorParameters<typeof LogError>[0], advice: string) =>
    new LogError(name, `${told}; ${advice}`, { cause: error })
  if ((code & 0xff) === FULL || code === IOERR_SHMSIZE || system === 'ENOSPC' || system === 'EDQUOT')
    return make('LOG_FULL', 'nothing of it was written. Make room on the disk and try again')
  switch (code & 0xff) {
    case CORRUPT:
      return make('LOG_CORRUPT', 'the file is damaged. Stop writing, keep a copy and restore a backup')
    case NOTADB:
      return make('LOG_FOREIGN', 'log.db is no keepup log, or its first page is damaged. Name another data folder')
    case READONLY:
    case CANTOPEN:
      return make('LOG_UNAVAILABLE', 'check that the folder exists and that this user may write to it')
    default:
      if (['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST', 'ENOENT'].includes(system))
        return make('LOG_UNAVAILABLE', 'check that the folder exists and that this user may write to it')
      return make('LOG_UNAVAILABLE', 'it is not known whether it happened. Try the very same again')
  }
}
