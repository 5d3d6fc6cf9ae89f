import { accessSync, constants, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'

const FULL = 13
const CANTOPEN = 14
const IOERR_SHMSIZE = 4874

/**
 * Opens a SQLite file read-only. A reader of a WAL file needs disk space for the shared index. Without it (a full disk,
 * a read-only file system) the file is opened as immutable if its WAL is empty. Nobody may write the file while it is read so.
 *
 * @param timeout - The longest wait for the lock of a writer, in ms.
 * @throws SQLite's error if the file cannot be opened.
 */
export function openToRead(path: string, timeout: number): DatabaseSync {
  const db = new DatabaseSync(path, { readOnly: true, timeout })
  try {
    db.prepare('SELECT count(*) FROM sqlite_schema').get()
    return db
  } catch (error) {
    db.close()
    if (!hasNoIndex(error, path) || walBytes(path) > 0) throw error
    const immutable = pathToFileURL(path)
    immutable.searchParams.set('immutable', '1')
    return new DatabaseSync(immutable, { readOnly: true, timeout })
  }
}

const walBytes = (path: string): number => statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0

/** Whether the error means that SQLite had no place for the index. */
function hasNoIndex(error: unknown, path: string): boolean {
  const code = (error as { readonly errcode?: number }).errcode ?? 0
  return code === FULL || code === IOERR_SHMSIZE || (code === CANTOPEN && isReadOnlyFileSystem(dirname(path)))
}

/** Whether the file system of a folder is mounted read-only. */
export function isReadOnlyFileSystem(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EROFS'
  }
}
