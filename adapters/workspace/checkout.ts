import { randomBytes } from 'node:crypto'
import { lstat, open, rename, rmdir, symlink, unlink } from 'node:fs/promises'
import { ToolError } from '../../domain/calls/errors.ts'
import { type OpenFolder, withFolder } from './open-folder.ts'
import { lastName, parentOf, type RawPath, rawBytes, rawSegments, shownPath, type VersionedFile } from './worktree.ts'

/** Writes and removes files of versions in a folder. `root`: the folder's real path. Never follows symbolic links. */
export function checkout(root: string) {
  const parentFolder = <T>(raw: RawPath, create: boolean, work: (folder: OpenFolder, name: Buffer) => Promise<T>) =>
    withFolder(root, rawSegments(parentOf(raw)), { create }, (folder) => work(folder, rawBytes(lastName(raw))))
  return {
    /** Rejects with CONFLICT if a write would destroy a file that is in no version. */
    free: async (raw: RawPath, versioned: (raw: RawPath) => boolean): Promise<void> => {
      for (let slash = 0; slash >= 0; ) {
        slash = raw.indexOf('/', slash + 1)
        const at = slash < 0 ? raw : raw.slice(0, slash)
        const stat = await parentFolder(at, false, (folder, name) => lstat(folder.at(name))).catch(
          (error: NodeJS.ErrnoException) => {
            if (error.code === 'ENOENT') return null
            throw isReplaced(error) ? inTheWay(at) : error
          },
        )
        if (stat?.isDirectory()) continue
        if (stat && !versioned(at)) throw inTheWay(at)
        return
      }
    },
    write: (raw: RawPath, file: VersionedFile): Promise<void> =>
      parentFolder(raw, true, async (folder, name) => {
        const [temporary, target] = [folder.at(`.keepup-${randomBytes(8).toString('hex')}.tmp`), folder.at(name)]
        try {
          if (file.mode === '120000') await symlink(Buffer.from(file.bytes), temporary)
          else {
            const handle = await open(temporary, 'wx', file.mode === '100755' ? 0o777 : 0o666)
            await handle.writeFile(file.bytes).finally(() => handle.close())
          }
          // A folder at this path is now empty, or contains files that are in no version.
          await rename(temporary, target).catch(async (error: NodeJS.ErrnoException) => {
            if (error.code !== 'EISDIR') throw error
            await rmdir(target).catch(() => {
              throw inTheWay(raw)
            })
            await rename(temporary, target)
          })
        } catch (error) {
          await unlink(temporary).catch(() => {})
          throw error
        }
      }).catch((error: unknown) => {
        throw isReplaced(error) ? inTheWay(raw) : error
      }),
    /** Removes a file, and the folders that become empty. */
    remove: async (raw: RawPath): Promise<void> => {
      await parentFolder(raw, false, (folder, name) => unlink(folder.at(name))).catch(
        (error: NodeJS.ErrnoException) => {
          if (error.code !== 'ENOENT' && !isReplaced(error)) throw error
        },
      )
      for (let at = parentOf(raw); at !== ''; at = parentOf(at)) {
        const removed = await parentFolder(at, false, (folder, name) => rmdir(folder.at(name))).then(
          () => true,
          () => false,
        )
        if (!removed) return
      }
    },
  }
}

/** Whether a link or a file has replaced a folder. */
const isReplaced = (error: unknown): boolean =>
  ['ENOTDIR', 'ELOOP'].includes(String((error as NodeJS.ErrnoException | null)?.code))

export const inTheWay = (raw: RawPath): ToolError =>
  new ToolError(
    'CONFLICT',
    `${shownPath(raw)} is in the way and in no version (it is ignored, or cannot be read); move it, then try again`,
  )
