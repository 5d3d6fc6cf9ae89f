import { randomBytes } from 'node:crypto'
import { lstat, mkdir, open, rename, rmdir, symlink, unlink } from 'node:fs/promises'
import { ToolError } from '../../domain/calls/errors.ts'
import { locate, parentOf, type RawPath, rawOf, shownPath, type VersionedFile } from './worktree.ts'

/** Writes and removes files of versions in a folder; never through a symbolic link. */
export function checkout(folder: string) {
  const made = new Set<RawPath>([''])
  const makeFolders = async (raw: RawPath): Promise<void> => {
    if (made.has(raw)) return
    await makeFolders(parentOf(raw))
    const path = locate(folder, raw)
    await mkdir(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
    if (!(await lstat(path)).isDirectory()) throw inTheWay(raw)
    made.add(raw)
  }
  return {
    /** Rejects with CONFLICT where a write would destroy a file that no version holds. */
    free: async (raw: RawPath, versioned: (raw: RawPath) => boolean): Promise<void> => {
      for (let slash = 0; slash >= 0; ) {
        slash = raw.indexOf('/', slash + 1)
        const at = slash < 0 ? raw : raw.slice(0, slash)
        const stat = await lstat(locate(folder, at)).catch((error: NodeJS.ErrnoException) => {
          if (error.code === 'ENOENT') return null
          throw error
        })
        if (stat?.isDirectory()) continue
        if (stat && !versioned(at)) throw inTheWay(at)
        return
      }
    },
    write: async (raw: RawPath, file: VersionedFile): Promise<void> => {
      const parent = parentOf(raw)
      await makeFolders(parent)
      const name = rawOf(`.keepup-${randomBytes(8).toString('hex')}.tmp`)
      const temporary = locate(folder, parent === '' ? name : `${parent}/${name}`)
      try {
        if (file.mode === '120000') await symlink(Buffer.from(file.bytes), temporary)
        else {
          const handle = await open(temporary, 'wx', file.mode === '100755' ? 0o777 : 0o666)
          await handle.writeFile(file.bytes).finally(() => handle.close())
        }
        // A folder at this path is empty by now, or holds files that are in no version.
        await rename(temporary, locate(folder, raw)).catch(async (error: NodeJS.ErrnoException) => {
          if (error.code !== 'EISDIR') throw error
          await rmdir(locate(folder, raw)).catch(() => {
            throw inTheWay(raw)
          })
          await rename(temporary, locate(folder, raw))
        })
      } catch (error) {
        await unlink(temporary).catch(() => {})
        throw error
      }
    },
    /** Removes a file and the folders that become empty. */
    remove: async (raw: RawPath): Promise<void> => {
      await unlink(locate(folder, raw)).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error
      })
      for (let at = parentOf(raw); at !== ''; at = parentOf(at)) {
        made.delete(at)
        const removed = await rmdir(locate(folder, at)).then(
          () => true,
          () => false,
        )
        if (!removed) return
      }
    },
  }
}

export const inTheWay = (raw: RawPath): ToolError =>
  new ToolError(
    'CONFLICT',
    `${shownPath(raw)} is in the way and in no version (it is ignored, or cannot be read); move it, then try again`,
  )
