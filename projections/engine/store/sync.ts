import { closeSync, fsyncSync, openSync } from 'node:fs'

/**
 * Makes the names in a folder, or the bytes and the size of a file durable. Not for an open database: closing the file
 * would release SQLite's locks.
 */
export function syncPath(path: string, flags: 'r' | 'r+' = 'r'): void {
  const handle = openSync(path, flags)
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
