import { closeSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { platformOf } from '../../domain/platform.ts'

/**
 * Makes a folder and its missing parents durably, by default for this user only. Makes them one by one: Node's
 * `recursive` never returns if a file system refuses a new name with ENOENT, as /proc does. Throws the errors of mkdir.
 */
export function makeFolder(path: string, mode = 0o700): void {
  const folder = resolve(path)
  if (isFolder(folder)) return
  const above = dirname(folder)
  if (above !== folder) makeFolder(above, mode)
  try {
    mkdirSync(folder, { mode })
  } catch (error) {
    // Another process may have made the folder in between.
    if (!isFolder(folder)) throw error
  }
  syncFolder(above)
}

/** Synchronously makes the names in a folder durable. Windows cannot open a folder; NTFS logs its names itself. */
export function syncFolder(path: string): void {
  if (platformOf(process.platform).opensFolders) sync(path, 'r')
}

/**
 * Synchronously makes a file's bytes and size durable. Not for a database: closing it would release SQLite's locks; for
 * its WAL.
 */
export const syncFile = (path: string): void => sync(path, 'r+')

function sync(path: string, flags: 'r' | 'r+'): void {
  const handle = openSync(path, flags)
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
