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
 * The entries of a folder that not every user of the machine may read, and its sockets, pipes and devices. Of a folder that
 * not every user may enter itself alone. keepup's own user may be root, or in a group with further rights.
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

/** An entry that appears or leaves meanwhile is none of ours. */
const entriesOf = (folder: string): Promise<Dirent[]> => readdir(folder, { withFileTypes: true }).catch(() => [])
