import { constants as fsConstants } from 'node:fs'
import { lstat, open, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { hasOpenFiles } from './beneath.ts'
import { type GitPlace, git } from './git.ts'

// File names are bytes: git's lists are kept as latin1 text, one character a byte, and go to the file system as bytes.

/** A path as git gives it, one character a byte. */
export type RawPath = string

export const rawBytes = (raw: RawPath): Buffer => Buffer.from(raw, 'latin1')
export const shownPath = (raw: RawPath): string => rawBytes(raw).toString('utf8').toWellFormed()
export const rawOf = (path: string): RawPath => Buffer.from(path, 'utf8').toString('latin1')

/** Where a raw path lies, as bytes for the file system. */
export const locate = (folder: string, raw: RawPath): Buffer =>
  Buffer.concat([Buffer.from(`${folder}/`), rawBytes(raw)])

/** Larger files are left aside like ignored ones. In bytes. */
export const MAX_VERSIONED_BYTES = 256 * 1024 * 1024

/** What stands at a path in a version. */
export interface VersionedFile {
  readonly mode: '100644' | '100755' | '120000'
  readonly bytes: Uint8Array
}

/** Paths that differ from the index: new, changed or gone; ignored ones aside. */
export async function changedPaths(place: GitPlace): Promise<RawPath[]> {
  const tagged = await listFiles(place, ['-t', '-m', '-d', '-o'])
  return expand(place, [...new Set(tagged.map((entry) => entry.slice(2)))])
}

/** All paths that are versioned or would be: what a search looks through. */
export async function allPaths(place: GitPlace): Promise<RawPath[]> {
  return expand(place, [...new Set(await listFiles(place, ['-c', '-o']))])
}

async function listFiles(place: GitPlace, what: readonly string[]): Promise<RawPath[]> {
  // Plain text, so unlike the repository's own settings it may be honoured; a pipe in its place would hang git.
  const exclude = join(place.workTree, '.git', 'info', 'exclude')
  const settings = (await isFile(exclude)) ? [`core.excludesFile=${exclude}`] : ['core.excludesFile=/dev/null']
  const out = await git(place, ['ls-files', '-z', ...what, '--exclude-standard'], { settings })
  return out.toString('latin1').split('\0').slice(0, -1)
}

const isFile = (path: string): Promise<boolean> =>
  lstat(path).then(
    (stat) => stat.isFile(),
    () => false,
  )

/** Git names a repository within the workspace as one folder; its files are looked up in their own right. */
async function expand(place: GitPlace, paths: readonly RawPath[]): Promise<RawPath[]> {
  const out: RawPath[] = []
  for (const path of paths) {
    if (!path.endsWith('/')) {
      out.push(path)
      continue
    }
    for (const name of await pathsOfInner(place, path.slice(0, -1))) out.push(path + name)
  }
  return out
}

/** A folder's name is bytes, and a process is started in a folder that is named by text: so by the open folder. */
async function pathsOfInner(place: GitPlace, raw: RawPath): Promise<RawPath[]> {
  const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = fsConstants
  const index = `${place.index}.none`
  const folder = await open(locate(place.workTree, raw), O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch(
    (error: NodeJS.ErrnoException) => {
      if (isGone(error) || isUnreadable(error)) return null
      throw error
    },
  )
  if (folder === null) return []
  try {
    const workTree = hasOpenFiles ? `/proc/${process.pid}/fd/${folder.fd}` : join(place.workTree, shownPath(raw))
    return await allPaths({ ...place, workTree, index })
  } finally {
    await folder.close()
  }
}

/**
 * Reads what stands at raw paths of a folder; never through a symbolic link. Null: nothing, or nothing that is versioned;
 * `unreadable`: this user may not read it, or its disk cannot give it. One cache of looked-at folders per use.
 */
export function worktreeReader(folder: string) {
  const realFolders = new Map<RawPath, boolean>()
  const isRealFolder = async (raw: RawPath): Promise<boolean> => {
    if (raw === '') return true
    const known = realFolders.get(raw)
    if (known !== undefined) return known
    const real =
      (await isRealFolder(parentOf(raw))) &&
      (await lstat(locate(folder, raw)).then((stat) => stat.isDirectory(), isUnreadable))
    realFolders.set(raw, real)
    return real
  }
  return async (raw: RawPath): Promise<VersionedFile | 'unreadable' | null> => {
    if (!(await isRealFolder(parentOf(raw)))) return null
    const path = locate(folder, raw)
    try {
      const stat = await lstat(path)
      if (stat.isSymbolicLink()) return { mode: '120000', bytes: await readlink(path, 'buffer') }
      if (!stat.isFile() || stat.size > MAX_VERSIONED_BYTES) return null
      const handle = await open(path, fsConstants.O_RDONLY | fsConstants.O_NOFOLLOW | fsConstants.O_NONBLOCK)
      try {
        const bytes = await handle.readFile()
        return { mode: (stat.mode & 0o100) === 0 ? '100644' : '100755', bytes }
      } finally {
        await handle.close()
      }
    } catch (error) {
      if (isGone(error)) return null
      if (isUnreadable(error)) return 'unreadable'
      throw error
    }
  }
}

/** Removed or replaced since git named it. */
const isGone = (error: unknown): boolean => isOneOf(error, ['ENOENT', 'ENOTDIR', 'ELOOP'])
/** What an agent has closed with chmod, or a disk cannot give: it must not keep the rest from being versioned. */
const isUnreadable = (error: unknown): boolean => isOneOf(error, ['EACCES', 'EPERM', 'EIO'])

const isOneOf = (error: unknown, codes: readonly string[]): boolean =>
  codes.includes(String((error as NodeJS.ErrnoException).code))

export const parentOf = (raw: RawPath): RawPath => raw.slice(0, Math.max(0, raw.lastIndexOf('/')))
