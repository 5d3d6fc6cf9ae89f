import { closeSync, openSync } from 'node:fs'

/**
 * Makes an empty file that only this user can read, if it is missing. SQLite would create it with the mode of the
 * umask, and gives its WAL the file's mode. Does not open an existing file, because closing it would release SQLite's
 * locks.
 */
export function ensurePrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
