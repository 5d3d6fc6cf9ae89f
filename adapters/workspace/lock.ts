import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type FileLock, tryHold } from '../files/exclusive.ts'
import { liesIn } from '../files/inside.ts'
import { WorkspaceError } from './error.ts'

export type WorkspaceLock = FileLock

/**
 * Locks a workspace by its real path for one run. The lock is an open `BEGIN EXCLUSIVE` on a separate database in the
 * data folder, so it always ends with the process. `runId`: the run that owns the lock, named in the errors of others.
 * Throws WorkspaceError WORKSPACE_BUSY if another run or process has the lock, or another run has the lock of a folder
 * inside this one or around it. Throws errors of the file system if the lock cannot be written.
 */
export function lockWorkspace(path: string, dataFolder: string, runId: string | null): WorkspaceLock {
  const real = realPath(path)
  const file = lockFile(real, dataFolder)
  // One process at a time takes locks: the search for nested folders also takes locks for a moment.
  const gate = tryHold(join(locksFolder(dataFolder), GATE), GATE_MS)
  if (gate === null) throw new WorkspaceError('WORKSPACE_BUSY', STOPPED)
  try {
    const held = tryHold(file)
    if (held === null) throw busy(real, holderOf(file)?.runId ?? null, runId)
    const lock = namedLock(file, held)
    try {
      writeFileSync(holderFile(file), JSON.stringify({ runId, path: real } satisfies Holder), { mode: 0o600 })
      const nested = nestedHolder(real, dataFolder, runId)
      if (nested !== null) throw busy(nested.path, nested.runId, null)
      return lock
    } catch (error) {
      lock.release()
      throw error
    }
  } finally {
    gate.release()
  }
}

/** A lock whose release also removes the name of its holder, once: a later name is another holder's. */
function namedLock(file: string, held: FileLock): WorkspaceLock {
  let isReleased = false
  return {
    release: () => {
      if (isReleased) return
      isReleased = true
      try {
        rmSync(holderFile(file), { force: true })
      } catch {
        // The next search for nested folders removes the name of a free lock.
      }
      held.release()
    },
  }
}

/** The file that a process locks while it takes a workspace's lock, and the longest wait for it, in ms. */
const GATE = 'workspaces.db'
const GATE_MS = 2_000
const STOPPED =
  'another process takes the lock of a workspace and does not go on; look for a stopped "keepup" (ps, then kill -CONT or end it)'

/** A run of other folders inside a real path or around it. Null: none, or only `runId` itself. */
function nestedHolder(real: string, dataFolder: string, runId: string | null): Holder | null {
  const folder = locksFolder(dataFolder)
  for (const name of readdirSync(folder).filter((one) => one.endsWith(HOLDER))) {
    const file = join(folder, name.slice(0, -HOLDER.length))
    const holder = holderOf(file)
    if (holder === null || holder.path === real || (runId !== null && holder.runId === runId)) continue
    if (!liesIn(real, holder.path) && !liesIn(holder.path, real)) continue
    const free = tryHold(file)
    if (free === null) return holder
    // The process of the holder was killed.
    rmSync(holderFile(file), { force: true })
    free.release()
  }
  return null
}

function busy(real: string, holder: string | null, runId: string | null): WorkspaceError {
  const said =
    holder !== null && holder === runId
      ? `a process that drives this run, or drove it, still holds ${real}; wait for its end, or look for a stopped "keepup" (ps, then kill -CONT or end it)`
      : `another run${holder === null ? '' : `, ${holder},`} works in ${real}; wait for its end, cancel it, or give this run a folder of its own`
  return new WorkspaceError('WORKSPACE_BUSY', said)
}

interface Holder {
  readonly runId: string | null
  readonly path: string
}

const HOLDER = '.run'

/**
 * The file with the run and the folder of a lock. It is separate from the lock, because no other process can read a
 * locked database.
 */
const holderFile = (file: string): string => `${file}${HOLDER}`

/** Null: no process has written the file, or has written only a part of it. */
function holderOf(file: string): Holder | null {
  try {
    return JSON.parse(readFileSync(holderFile(file), 'utf8')) as Holder
  } catch {
    return null
  }
}

const locksFolder = (dataFolder: string): string => join(dataFolder, 'locks')

const lockFile = (real: string, dataFolder: string): string =>
  join(locksFolder(dataFolder), `${createHash('sha256').update(real).digest('hex').slice(0, 32)}.db`)

/** The nearest folder at or above a real path in which runs of this data folder have worked; null if there is none. */
export function workspaceAround(path: string, dataFolder: string): string | null {
  if (existsSync(lockFile(path, dataFolder))) return path
  return dirname(path) === path ? null : workspaceAround(dirname(path), dataFolder)
}

function realPath(path: string): string {
  try {
    return realpathSync.native(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new WorkspaceError('WORKSPACE_MISSING', `the workspace ${path} does not exist; make the folder first`)
  }
}
