import { randomBytes } from 'node:crypto'
import { constants as fsConstants, type Stats } from 'node:fs'
import { lstat, open, readdir, rename, unlink } from 'node:fs/promises'
import { ToolError } from '../../domain/calls/errors.ts'
import type { DirEntry } from '../../domain/ports/index.ts'
import { refuseGitFolder } from './git-internals.ts'
import { type OpenFolder, openRegular, realSegments, withFolder } from './open-folder.ts'
import { fileFailure, leadsOut, refuseGitInternals, segmentsBeneath } from './paths.ts'

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = fsConstants

/** The largest readable file, in bytes. */
export const MAX_READ_BYTES = 64 * 1024 * 1024
/** The names of unfinished files. Only a crash leaves them behind, and they are never versioned. */
export const TEMPORARY_FILES = '.keepup-*.tmp'

/** File operations below a real root folder, as the Workspace port defines them. */
export function workspaceFiles(root: string) {
  const real = async (path: string) => realSegments(root, path, await segmentsBeneath(root, path))
  const guarded = async <T>(path: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      throw fileFailure(error, path)
    }
  }
  return {
    resolve: (path: string): Promise<string> => guarded(path, async () => (await real(path)).join('/')),

    read: (path: string): Promise<Uint8Array> =>
      guarded(path, async () => {
        const [segments, name] = parted(await real(path), path)
        return withFolder(root, segments, {}, async (folder) => {
          const handle = await openRegular(folder, name, path)
          try {
            const { size } = await handle.stat()
            if (size > MAX_READ_BYTES) {
              throw new ToolError(
                'EXECUTION_FAILED',
                `${JSON.stringify(path)} has ${size} bytes, more than ${MAX_READ_BYTES}; read it with a command`,
              )
            }
            return await handle.readFile()
          } finally {
            await handle.close()
          }
        })
      }),

    write: (path: string, bytes: Uint8Array): Promise<{ created: boolean }> =>
      guarded(path, async () => {
        const all = await real(path)
        refuseGitInternals(path, await segmentsBeneath(root, path))
        refuseGitInternals(path, all)
        const [segments, name] = parted(all, path)
        const passing = (folder: OpenFolder, next: Buffer) => refuseGitFolder(path, folder, next.toString())
        return withFolder(root, segments, { create: true, passing }, (folder) => {
          refuseGitFolder(path, folder, name)
          return replace(folder, name, path, bytes)
        })
      }),

    list: (path: string): Promise<readonly DirEntry[]> =>
      guarded(path, async () => withFolder(root, await real(path), {}, entries)),

    exists: (path: string): Promise<boolean> =>
      guarded(path, async () => {
        const all = await real(path)
        if (all.length === 0) return true
        const [segments, name] = parted(all, path)
        const found = withFolder(root, segments, {}, async (folder) => lstat(folder.at(name)))
        return found.then(
          () => true,
          (error: NodeJS.ErrnoException) => {
            if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return false
            throw error
          },
        )
      }),
  }
}

function parted(segments: readonly string[], path: string): [string[], string] {
  const name = segments.at(-1)
  if (name === undefined) throw new ToolError('CONFLICT', `${JSON.stringify(path)} is the workspace folder itself`)
  return [segments.slice(0, -1), name]
}

async function replace(folder: OpenFolder, name: string, path: string, bytes: Uint8Array) {
  const before = await statOrNull(folder.at(name))
  if (before?.isDirectory()) throw new ToolError('CONFLICT', `${JSON.stringify(path)} is a directory`)
  if (before && !before.isFile()) throw leadsOut(path, 'is not a regular file')
  const temporary = folder.at(`.keepup-${randomBytes(8).toString('hex')}.tmp`)
  const handle = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o666)
  try {
    try {
      await handle.writeFile(bytes)
      if (before) await likeBefore(handle, before)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(temporary, folder.at(name))
  } catch (error) {
    await unlink(temporary).catch(() => {})
    throw error
  }
  await folder.sync()
  return { created: before === null }
}

/** Gives the new file the owner and the permissions of the file that it replaces. */
async function likeBefore(handle: Awaited<ReturnType<typeof open>>, before: Stats): Promise<void> {
  const own = await handle.stat()
  if (own.uid !== before.uid || own.gid !== before.gid) await handle.chown(before.uid, before.gid).catch(() => {})
  await handle.chmod(before.mode & 0o777)
}

const statOrNull = (path: Buffer): Promise<Stats | null> =>
  lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })

async function entries(folder: OpenFolder): Promise<DirEntry[]> {
  const found: DirEntry[] = []
  const names = (await readdir(folder.at('.'))).sort()
  for (let at = 0; at < names.length; at += 64) {
    const stats = await Promise.all(
      names.slice(at, at + 64).map(async (name) => ({ name, stat: await statOrNull(folder.at(name)) })),
    )
    for (const { name, stat } of stats) {
      if (stat) found.push({ name: name.toWellFormed(), type: typeOf(stat), size: stat.isFile() ? stat.size : 0 })
    }
  }
  return found
}

function typeOf(stat: Stats): DirEntry['type'] {
  if (stat.isFile()) return 'file'
  if (stat.isDirectory()) return 'dir'
  return stat.isSymbolicLink() ? 'symlink' : 'other'
}
