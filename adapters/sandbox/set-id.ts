import { constants, type Dirent } from 'node:fs'
import { chmod, lstat, open, unlink } from 'node:fs/promises'
import { shownIn } from './git-folders.ts'
import type { HeldFolder } from './held-folder.ts'
import { bytesAt, bytesOf, walk } from './walk.ts'

const SET_ID = 0o6000
/** Linux's O_PATH, which Node does not export. It does not open the file itself, so the file need not be readable. */
const O_PATH = 0o10000000

type Unsafe = 'set-id' | 'device'

/**
 * Runs a command and then removes the set-user-ID and set-group-ID bits and the devices that it added. Files with such
 * bits before the command keep them. With a filter of system calls a command can add none, so no search is needed.
 */
export async function withoutSetId<T>(
  { folder, filter }: { readonly folder: HeldFolder; readonly filter: Buffer | null },
  command: () => Promise<T>,
  tell: (text: string) => void,
): Promise<T> {
  if (filter !== null) return command()
  const before = await unsafeIn(folder)
  try {
    return await command()
  } finally {
    const after = await unsafeIn(folder).catch((error: Error) => {
      tell(error.message)
      return new Map<string, Unsafe>()
    })
    for (const [key, kind] of after) if (before.get(key) !== kind) await mend(folder, key, kind, tell)
  }
}

/** The unsafe files of a workspace by inode and path. */
async function unsafeIn(workspace: HeldFolder): Promise<Map<string, Unsafe>> {
  const found = new Map<string, Unsafe>()
  const look = async (path: string) => {
    const stats = await lstat(bytesAt(workspace, path)).catch(() => null)
    if (stats === null) return
    const isDevice = stats.isBlockDevice() || stats.isCharacterDevice()
    if (isDevice || (stats.isFile() && (stats.mode & SET_ID) !== 0))
      found.set(`${stats.ino} ${path}`, isDevice ? 'device' : 'set-id')
  }
  const visit = async (folder: string, entries: readonly Dirent[]) => {
    const folders = entries.filter((entry) => entry.isDirectory())
    const others = entries.filter((entry) => !entry.isDirectory() && !entry.isSymbolicLink())
    await Promise.all(others.map(({ name }) => look(`${folder}/${name}`)))
    return folders
  }
  await walk(workspace, { visit })
  return found
}

async function mend(workspace: HeldFolder, key: string, kind: Unsafe, tell: (text: string) => void): Promise<void> {
  const path = key.slice(key.indexOf(' ') + 1)
  const bytes = bytesAt(workspace, path)
  const shown = shownIn(workspace.path, bytesOf(path).toString('utf8'))
  try {
    if (kind === 'device') {
      await unlink(bytes)
      return tell(`the command made the device ${shown}; it was removed`)
    }
    // Does not follow a link that has since replaced the file.
    const handle = await open(bytes, O_PATH | constants.O_NOFOLLOW)
    try {
      const { mode } = await handle.stat()
      await chmod(`/proc/self/fd/${handle.fd}`, mode & 0o1777)
    } finally {
      await handle.close()
    }
    tell(`the command made the set-user-ID or set-group-ID file ${shown}; the bits were removed`)
  } catch (error) {
    tell(
      `the command made the ${kind} file ${shown}, which could not be mended: ${(error as Error).message}; remove it`,
    )
  }
}
