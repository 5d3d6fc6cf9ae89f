import type { Dirent, Stats } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** An entry that confined programs must not see. */
export interface PrivateEntry {
  readonly path: string
  readonly isFolder: boolean
}

const READ = 0o004
const ENTER = 0o005

/**
 * The entries of a folder that some users of the machine may not read, and its sockets, pipes and devices. If some
 * users may not enter a folder, returns only the folder. keepup's own user may be root or in a group with further
 * rights.
 */
export async function privateEntries(folder: string): Promise<PrivateEntry[]> {
  const found = await Promise.all((await entriesOf(folder)).map(({ name }) => within(join(folder, name))))
  return found.flat()
}

async function within(path: string): Promise<PrivateEntry[]> {
  const stats = await lstat(path).catch(() => null)
  if (stats === null || stats.isSymbolicLink()) return []
  const isFolder = stats.isDirectory()
  if (!isOpen(stats)) return [{ path, isFolder }]
  return isFolder ? privateEntries(path) : []
}

const isOpen = (stats: Stats): boolean =>
  stats.isDirectory() ? (stats.mode & ENTER) === ENTER : stats.isFile() && (stats.mode & READ) !== 0

/** Ignore entries that appear or disappear during the search. */
const entriesOf = (folder: string): Promise<Dirent[]> => readdir(folder, { withFileTypes: true }).catch(() => [])
