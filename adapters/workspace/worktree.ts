import { constants as fsConstants } from 'node:fs'
import { lstat, open, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { type GitPlace, git } from './git.ts'
import { hasOpenFiles, type OpenFolder, OpenFolders } from './open-folder.ts'

// File names are bytes. A path from git is stored as latin1 text with one character per byte, and passed to the file
// system as bytes.

/** A path from git, with one character per byte. */
export type RawPath = string

export const rawBytes = (raw: RawPath): Buffer => Buffer.from(raw, 'latin1')
export const shownPath = (raw: RawPath): string => rawBytes(raw).toString('utf8').toWellFormed()
export const rawOf = (path: string): RawPath => Buffer.from(path, 'utf8').toString('latin1')

/** The largest versioned file, in bytes. */
export const MAX_VERSIONED_BYTES = 256 * 1024 * 1024

/** A file or link of a version. */
export interface VersionedFile {
  readonly mode: '100644' | '100755' | '120000'
  readonly bytes: Uint8Array
}

/** Paths that differ from the index: new, changed and missing files, without ignored ones. */
export async function changedPaths(place: GitPlace): Promise<RawPath[]> {
  const tagged = await listFiles(place, ['-t', '-m', '-d', '-o'])
  return expand(place, [...new Set(tagged.map((entry) => entry.slice(2)))])
}

/** All paths that a snapshot would version. */
export async function allPaths(place: GitPlace): Promise<RawPath[]> {
  return expand(place, [...new Set(await listFiles(place, ['-c', '-o']))])
}

async function listFiles(place: GitPlace, what: readonly string[]): Promise<RawPath[]> {
  // The user's exclude file is plain text and starts no program, so it is used. A pipe at its path would block git.
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

/** Replaces each inner repository, which git lists as one folder, by its files. */
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

/**
 * The files of an inner repository. Git starts in the open folder, because the folder's name may be bytes that are not
 * valid text.
 */
async function pathsOfInner(place: GitPlace, raw: RawPath): Promise<RawPath[]> {
  const index = `${place.index}.none`
  const folders = new OpenFolders(place.workTree)
  try {
    const { handle } = folders.enter(rawSegments(raw))
    const workTree = hasOpenFiles ? `/proc/${process.pid}/fd/${handle}` : join(place.workTree, shownPath(raw))
    return await allPaths({ ...place, workTree, index })
  } catch (error) {
    if (isGone(error) || isUnreadable(error)) return []
    throw error
  } finally {
    folders.close()
  }
}

/** Reads the files and links of a folder. Call `close` after use. */
export interface WorktreeReader {
  /**
   * Reads a file or link at a raw path, never through a symbolic link. Null: the file does not exist or is not
   * versioned. `unreadable`: the user lacks the right, or the disk fails.
   */
  read(raw: RawPath): Promise<VersionedFile | 'unreadable' | null>
  close(): void
}

export function worktreeReader(root: string): WorktreeReader {
  const folders = new OpenFolders(root)
  return {
    read: async (raw) => {
      try {
        const folder = folders.enter(rawSegments(parentOf(raw)))
        const file = await readEntry(folder, rawBytes(lastName(raw)))
        folder.check()
        return file
      } catch (error) {
        if (isGone(error)) return null
        if (isUnreadable(error)) return 'unreadable'
        throw error
      }
    },
    close: () => folders.close(),
  }
}

async function readEntry(folder: OpenFolder, name: Buffer): Promise<VersionedFile | null> {
  const path = folder.at(name)
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
}

/** Whether the file was removed or replaced after git listed it. */
const isGone = (error: unknown): boolean => isOneOf(error, ['ENOENT', 'ENOTDIR', 'ELOOP'])
/**
 * Whether a file is unreadable, by its mode or by a fault of the disk. It must not prevent versions of the other files.
 */
const isUnreadable = (error: unknown): boolean => isOneOf(error, ['EACCES', 'EPERM', 'EIO'])

const isOneOf = (error: unknown, codes: readonly string[]): boolean =>
  codes.includes(String((error as NodeJS.ErrnoException).code))

export const parentOf = (raw: RawPath): RawPath => raw.slice(0, Math.max(0, raw.lastIndexOf('/')))
export const lastName = (raw: RawPath): RawPath => raw.slice(raw.lastIndexOf('/') + 1)
/** The names of a raw path, as bytes for the file system. */
export const rawSegments = (raw: RawPath): Buffer[] => (raw === '' ? [] : raw.split('/').map(rawBytes))
