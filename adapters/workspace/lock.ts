import { createHash } from 'node:crypto'
import { existsSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type FileLock, tryHold } from '../files/exclusive.ts'
import { WorkspaceError } from './error.ts'

export type WorkspaceLock = FileLock

/**
 * Locks a workspace by its real path for one run. The lock is an open `BEGIN EXCLUSIVE` on a separate database in the
 * data folder, so it always ends with the process. `runId`: the run that owns the lock, named in the errors of others.
 * Throws WorkspaceError WORKSPACE_BUSY if another run or process has the lock.
 */
export function lockWorkspace(path: string, dataFolder: string, runId: string | null): WorkspaceLock {
  const real = realPath(path)
  const file = lockFile(real, dataFolder)
  const held = tryHold(file)
  if (held === null) throw busy(real, holderOf(file), runId)
  tellHolder(file, runId ?? '')
  return held
}

function busy(real: string, holder: string | null, runId: string | null): WorkspaceError {
  const said =
    holder !== null && holder === runId
      ? `a process that drives this run, or drove it, still holds ${real}; wait for its end, or look for a stopped "keepup" (ps, then kill -CONT or end it)`
      : `another run${holder === null ? '' : `, ${holder},`} works in ${real}; wait for its end, cancel it, or give this run a folder of its own`
  return new WorkspaceError('WORKSPACE_BUSY', said)
}

/**
 * The file with the id of the lock's run. It is separate from the lock, because no other process can read a locked
 * database.
 */
const holderFile = (file: string): string => `${file}.run`

function tellHolder(file: string, runId: string): void {
  try {
    writeFileSync(holderFile(file), runId, { mode: 0o600 })
  } catch {
    // The lock works without a name. A missing name is better than a wrong one.
    rmSync(holderFile(file), { force: true })
  }
}

function holderOf(file: string): string | null {
  return existsSync(holderFile(file)) ? readFileSync(holderFile(file), 'utf8') || null : null
}

const lockFile = (real: string, dataFolder: string): string =>
  join(dataFolder, 'locks', `${createHash('sha256').update(real).digest('hex').slice(0, 32)}.db`)

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
