import { closeSync, openSync } from 'node:fs'

/**
 * Makes an empty file for this user alone, where it is missing. SQLite would make it with the mode of the umask, and gives its
 * WAL the mode of the file. An existing file is not opened, because closing it would release SQLite's locks.
 */
export function ensurePrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
