import { closeSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Makes a folder and its missing parents durably, by default for this user alone. It makes them one by one, because Node's
 * `recursive` never returns where a file system refuses a new name with ENOENT, as /proc does. Throws as mkdir does.
 */
export function makeFolder(path: string, mode = 0o700): void {
  const folder = resolve(path)
  if (isFolder(folder)) return
  const above = dirname(folder)
  if (above !== folder) makeFolder(above, mode)
  try {
    mkdirSync(folder, { mode })
  } catch (error) {
    // Another process may have made the folder since.
    if (!isFolder(folder)) throw error
  }
  syncFolder(above)
}

/** Makes the names in a folder durable, without a promise. */
export function syncFolder(path: string): void {
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
