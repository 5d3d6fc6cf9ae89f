import { closeSync, fsyncSync, openSync } from 'node:fs'
import { platformOf } from '../../../domain/platform.ts'

/**
 * Makes the names in a folder, or the bytes and the size of a file durable. Not for an open database: closing the file
 * would release SQLite's locks. Windows cannot open a folder; NTFS logs its names itself.
 */
export function syncPath(path: string, flags: 'r' | 'r+' = 'r'): void {
  if (flags === 'r' && !platformOf(process.platform).opensFolders) return
  const handle = openSync(path, flags)
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
