import { existsSync, constants as fsConstants } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, realpath } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { ToolError } from '../../domain/calls/errors.ts'
import { leadsOut } from './paths.ts'

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = fsConstants

/** A path that starts at an open directory stays valid when the directory is moved. This is Node's `openat`, on Linux only. */
const OPEN_FILES = '/proc/self/fd'
export const hasOpenFiles = existsSync(OPEN_FILES)

/** An open directory of the workspace. */
export interface OpenFolder {
  /** The path of an entry, through the open directory. */
  at(name: string): string
  /** Makes additions, renames and removals durable. */
  sync(): Promise<void>
}

/**
 * The real segments of a path beneath `root` (a real path). Follows symbolic links inside the workspace; a missing path is
 * resolved by its nearest existing parent. Throws ToolError SANDBOX_VIOLATION for a path that leads out.
 */
export async function realSegments(root: string, path: string, segments: readonly string[]): Promise<string[]> {
  for (let known = segments.length; ; known--) {
    const candidate = join(root, ...segments.slice(0, known))
    let real: string
    try {
      real = await realpath(candidate)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if ((code !== 'ENOENT' && code !== 'ENOTDIR') || known === 0) throw error
      const dangling = await lstat(candidate).then(
        (stat) => stat.isSymbolicLink(),
        () => false,
      )
      if (dangling) throw leadsOut(path, 'is a symbolic link that leads nowhere')
      continue
    }
    const inside = relative(root, real)
    if (inside === '..' || inside.startsWith(`..${sep}`) || (inside !== '' && join(root, inside) !== real)) {
      throw leadsOut(path, 'leads out of the workspace through a symbolic link')
    }
    return [...inside.split(sep).filter((s) => s !== ''), ...segments.slice(known)]
  }
}

/**
 * Opens the directories of real segments one by one, never through a symbolic link, and runs `work` with the last one.
 * Rejects with ELOOP or ENOTDIR where a link was put there since. Without /proc it compares the real path before and after.
 */
export async function withFolder<T>(
  root: string,
  segments: readonly string[],
  options: { create: boolean },
  work: (folder: OpenFolder) => Promise<T>,
): Promise<T> {
  const handles: FileHandle[] = []
  const full = join(root, ...segments)
  const unmoved = async () => {
    if (hasOpenFiles || (await realpath(full)) === full) return
    throw new ToolError('SANDBOX_VIOLATION', `${segments.join('/')} was replaced by a link while it was used`)
  }
  try {
    let path = root
    let folder = await open(path, O_RDONLY | O_DIRECTORY)
    handles.push(folder)
    for (const segment of segments) {
      path = hasOpenFiles ? `${OPEN_FILES}/${folder.fd}/${segment}` : join(path, segment)
      if (options.create) await makeFolder(path, folder)
      folder = await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
      handles.push(folder)
    }
    await unmoved()
    const last = folder
    const result = await work({
      at: (name) => (hasOpenFiles ? `${OPEN_FILES}/${last.fd}/${name}` : join(full, name)),
      sync: () => last.sync(),
    })
    await unmoved()
    return result
  } finally {
    for (const handle of handles) await handle.close()
  }
}

async function makeFolder(path: string, parent: FileHandle): Promise<void> {
  try {
    await mkdir(path)
    await parent.sync()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** Opens a regular file for reading: no link, no device, no pipe that would hang. */
export async function openRegular(folder: OpenFolder, name: string, path: string): Promise<FileHandle> {
  const refuse = (stat: { isFile(): boolean; isDirectory(): boolean }) => {
    if (stat.isDirectory()) throw new ToolError('CONFLICT', `${JSON.stringify(path)} is a directory`)
    if (!stat.isFile()) throw leadsOut(path, 'is not a regular file')
  }
  const before = await lstat(folder.at(name))
  refuse(before)
  const handle = await open(folder.at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    refuse(await handle.stat())
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}
