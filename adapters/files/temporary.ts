import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { platformOf } from '../../domain/platform.ts'
import { type FileLock, tryHold } from './exclusive.ts'

/** A temporary folder with texts that erasures do not reach. */
export interface TemporaryFolder {
  readonly path: string
  /** Removes the folder. A second call has no effect. */
  remove(): void
}

const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Makes a folder that only this user can enter, in a new `keepup-<name>-…` of the system's temporary folder. It is removed
 * by `remove`, at the end of the process, and at a signal that ends the process. A killed process leaves its folder; the
 * next call with this name removes it. A lock tells a folder in use, because process ids say nothing about processes of
 * other containers.
 */
export function temporaryFolder(name: string): TemporaryFolder {
  removeLeftovers(name)
  let made: LockedFolder | null = null
  const remove = () => {
    process.off('exit', remove)
    for (const signal of ENDING) process.off(signal, end)
    if (made === null) return
    removeLocked(made.root, made.lock)
    made.lock.release()
  }
  const end = (signal: NodeJS.Signals) => {
    const isLast = process.listenerCount(signal) === 1
    remove()
    // Without another listener the signal has its default effect.
    if (isLast) process.kill(process.pid, signal)
  }
  // Listen first: a signal that arrives between the two would leave the folder.
  process.once('exit', remove)
  for (const signal of ENDING) process.on(signal, end)
  try {
    made = lockedFolder(name)
    const path = join(made.root, 'content')
    mkdirSync(path)
    return { path, remove }
  } catch (error) {
    remove()
    throw error
  }
}

interface LockedFolder {
  readonly root: string
  readonly lock: FileLock
}

const lockOf = (root: string): string => join(root, 'lock')

/** Makes a folder and locks it. Another process may remove the folder before it is locked; then a new one is made. */
function lockedFolder(name: string): LockedFolder {
  for (;;) {
    const root = mkdtempSync(join(tmpdir(), `keepup-${name}-`))
    let lock: FileLock | null
    try {
      lock = tryHold(lockOf(root))
    } catch (error) {
      rmSync(root, { recursive: true, force: true })
      throw error
    }
    if (lock !== null && existsSync(lockOf(root))) return { root, lock }
    lock?.release()
  }
}

/**
 * Whether `temporaryFolder` of this user made an entry of the system's temporary folder. Another user can make entries
 * with our names there, and locking opens the lock for writing, so it must be no link to a file elsewhere.
 */
function isOurs(root: string): boolean {
  const folder = lstatSync(root)
  if (!folder.isDirectory()) return false
  if (process.getuid !== undefined && folder.uid !== process.getuid()) return false
  if (platformOf(process.platform).hasModes && (folder.mode & 0o777) !== 0o700) return false
  return lstatSync(lockOf(root), { throwIfNoEntry: false })?.isFile() ?? true
}

function removeLeftovers(name: string): void {
  for (const entry of readdirSync(tmpdir())) {
    if (!entry.startsWith(`keepup-${name}-`)) continue
    try {
      removeLeftover(join(tmpdir(), entry))
    } catch {
      // The folder is gone, or this user cannot remove it. The next call tries again.
    }
  }
}

function removeLeftover(root: string): void {
  if (!isOurs(root)) return
  const lock = tryHold(lockOf(root))
  if (lock === null) return
  try {
    removeLocked(root, lock)
  } finally {
    lock.release()
  }
}

/** Removes a folder. Releases its lock where an open file in the folder would prevent the removal. */
function removeLocked(root: string, lock: FileLock): void {
  if (process.platform === 'win32') lock.release()
  removeFolder(root)
}

/** Removes a folder. Gives it another name first: a copy or a process that still uses the old name adds nothing to it. */
function removeFolder(root: string): void {
  if (!existsSync(root)) return
  const removed = `${root}.removed`
  renameSync(root, removed)
  rmSync(removed, { recursive: true, force: true })
}
