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
 * inside this one or around it.
 */
export function lockWorkspace(path: string, dataFolder: string, runId: string | null): WorkspaceLock {
  const real = realPath(path)
  const file = lockFile(real, dataFolder)
  const held = tryHold(file)
  if (held === null) throw busy(real, holderOf(file)?.runId ?? null, runId)
  // Name this folder before looking for others: of two runs that lock nested folders at once, at least one sees the other.
  tellHolder(file, { runId, path: real })
  const release = () => {
    rmSync(holderFile(file), { force: true })
    held.release()
  }
  const nested = nestedHolder(real, dataFolder, runId)
  if (nested === null) return { release }
  release()
  throw busy(nested.path, nested.runId, null)
}

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

function tellHolder(file: string, holder: Holder): void {
  try {
    writeFileSync(holderFile(file), JSON.stringify(holder), { mode: 0o600 })
  } catch {
    // The lock works without a name. A missing name is better than a wrong one.
    rmSync(holderFile(file), { force: true })
  }
}

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
