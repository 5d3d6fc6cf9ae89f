import { randomBytes } from 'node:crypto'
import { constants as fsConstants, lstatSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { appendFile, link, rename, rm, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { platformOf } from '../../domain/platform.ts'
import { syncNames, writeDurably } from '../files/durable.ts'
import { VaultError } from './error.ts'

/**
 * Whether a private file exists. Throws VaultError VAULT_EXPOSED where other users can read or change it, and
 * VAULT_UNREADABLE where this user may not look at it.
 */
export function checkPrivate(path: string): boolean {
  const stat = statOf(path)
  if (!stat) return false
  const exposed = platformOf(process.platform).hasModes && (stat.mode & 0o077) !== 0
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

/** The real path of a file; the path itself where the file is missing. */
export const realPath = (path: string): string => (statOf(path) === undefined ? path : realpathSync.native(path))

/** Replaces a private file atomically and durably. A link stays: its target is replaced. */
export async function replacePrivate(link: string, text: string): Promise<void> {
  const path = realPath(link)
  const temporary = await writeTemporary(path, text)
  await rename(temporary, path).catch(async (error) => {
    await unlink(temporary)
    throw error
  })
  await syncNames(dirname(path))
}

/** Makes a private file unless it exists. Of two processes at the same time one wins, and its content is whole. */
export async function createPrivate(path: string, text: string): Promise<void> {
  const temporary = await writeTemporary(path, text)
  try {
    await link(temporary, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await unlink(temporary)
  }
  await syncNames(dirname(path))
}

/** Appends to a private file, durably. Rejects where the file is missing: a new one would hold only a part. */
export async function appendPrivate(path: string, text: string): Promise<void> {
  await appendFile(path, text, { flag: fsConstants.O_WRONLY | fsConstants.O_APPEND, flush: true })
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** Temporary files of this user beside a private file. Killed writers leave them, and each holds secrets. */
export function temporariesOf(path: string): string[] {
  const folder = dirname(path)
  const names = namesIn(folder)
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
  if (stat?.isFile() !== true) return false
  if (!platformOf(process.platform).hasModes) return true
  return (stat.mode & 0o777) === 0o600 && stat.uid === (process.getuid?.() ?? stat.uid)
}

/** Removes {@link temporariesOf} a file. Call it while no other process writes the file. */
export async function removeTemporaries(path: string): Promise<void> {
  for (const temporary of temporariesOf(path)) await rm(temporary, { force: true })
}

async function writeTemporary(path: string, text: string): Promise<string> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`
  await writeDurably(temporary, text)
  return temporary
}
