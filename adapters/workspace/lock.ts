import { createHash } from 'node:crypto'
import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Held, tryHold } from '../files/exclusive.ts'
import { WorkspaceError } from './error.ts'

export type WorkspaceLock = Held

/**
 * One run per real workspace path (CONTRACTS 5). Held as an open `BEGIN EXCLUSIVE` on a database of its own in the data
 * folder, so that it ends with the process, however that ends. Throws WorkspaceError WORKSPACE_BUSY for the second.
 */
export function lockWorkspace(path: string, dataFolder: string): WorkspaceLock {
  const real = realPath(path)
  const held = tryHold(lockFile(real, dataFolder))
  if (held !== null) return held
  throw new WorkspaceError(
    'WORKSPACE_BUSY',
    `another run works in ${real}; wait for its end, cancel it, or give this run a folder of its own`,
  )
}

const lockFile = (real: string, dataFolder: string): string =>
  join(dataFolder, 'locks', `${createHash('sha256').update(real).digest('hex').slice(0, 32)}.db`)

/** The folder around a real path, or itself, that runs of this data folder have worked in; null: there is none. */
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
