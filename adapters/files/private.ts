import { closeSync, openSync } from 'node:fs'

/**
 * Makes an empty file for this user alone, where there is none. SQLite gives a file that it makes the umask's mode, and its
 * WAL the mode of the file. A file that is there is not opened: to close it would release SQLite's locks on it.
 */
export function ensurePrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
