import { randomBytes } from 'node:crypto'
import { constants as fsConstants, lstatSync, realpathSync, statSync } from 'node:fs'
import { link, open, readdir, rename, rm, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { VaultError } from './error.ts'

/**
 * Whether a private file is there. Throws VaultError VAULT_EXPOSED where others could read or change it, and VAULT_UNREADABLE
 * where this user may not look at it.
 */
export function checkPrivate(path: string): boolean {
  const stat = statOf(path)
  if (!stat) return false
  const exposed = process.platform !== 'win32' && (stat.mode & 0o077) !== 0
  if (!stat.isFile() || exposed) {
    const mode = (stat.mode & 0o777).toString(8)
    throw new VaultError(
      'VAULT_EXPOSED',
      `${path} must be a file that only you can read, but its mode is ${mode}; change any secret that others may have ` +
        `read, then: chmod 600 ${path}`,
    )
  }
  return true
}

function statOf(path: string) {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new VaultError(
      'VAULT_UNREADABLE',
      `${path} cannot be read (${code}); give this user the right to, or name another file`,
    )
  }
}

/** The real path of a file, itself where it is missing. */
export const realPath = (path: string): string => (statOf(path) === undefined ? path : realpathSync.native(path))

/** Replaces a private file at once, durably. A link stays: what it leads to is replaced. */
export async function replacePrivate(link: string, text: string): Promise<void> {
  const path = realPath(link)
  const temporary = await writeTemporary(path, text)
  await rename(temporary, path).catch(async (error) => {
    await unlink(temporary)
    throw error
  })
  await syncFolder(path)
}

/** Makes a private file unless there is one; of two processes that do this at once, one wins and its content is whole. */
export async function createPrivate(path: string, text: string): Promise<void> {
  const temporary = await writeTemporary(path, text)
  try {
    await link(temporary, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await unlink(temporary)
  }
  await syncFolder(path)
}

/** Adds to a private file, durably. It must be there: one that was removed meanwhile would come back with a part only. */
export async function appendPrivate(path: string, text: string): Promise<void> {
  const handle = await open(path, fsConstants.O_WRONLY | fsConstants.O_APPEND)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Temporary files of this user beside a private file: writers that were killed have left them, and each holds secrets. */
export async function temporariesOf(path: string): Promise<string[]> {
  const folder = dirname(path)
  const names = await readdir(folder).catch(() => [])
  const isTemporary = (name: string) =>
    name.startsWith(`${basename(path)}.`) && TEMPORARY.test(name.slice(basename(path).length))
  return names
    .filter(isTemporary)
    .map((name) => join(folder, name))
    .filter(isOwn)
}
const TEMPORARY = /^\.[0-9a-f]{12}\.tmp$/

function isOwn(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  return stat?.isFile() === true && (stat.mode & 0o777) === 0o600 && stat.uid === (process.getuid?.() ?? stat.uid)
}

/** Removes {@link temporariesOf} a file. Call it while no other process writes the file. */
export async function removeTemporaries(path: string): Promise<void> {
  for (const temporary of await temporariesOf(path)) await rm(temporary, { force: true })
}

async function writeTemporary(path: string, text: string): Promise<string> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`
  const handle = await open(temporary, 'wx', 0o600)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  return temporary
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(dirname(path), fsConstants.O_RDONLY)
  await folder.sync().finally(() => folder.close())
}
