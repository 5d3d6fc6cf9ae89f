import { createHash } from 'node:crypto'
import { mkdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { WorkspaceError } from './error.ts'

export interface WorkspaceLock {
  release(): void
}

/**
 * One run per real workspace path (CONTRACTS 5). Held as an open `BEGIN EXCLUSIVE` on a database of its own in the data
 * folder, so that it ends with the process, however that ends. Throws WorkspaceError WORKSPACE_BUSY for the second.
 */
export function lockWorkspace(path: string, dataFolder: string): WorkspaceLock {
  const real = realPath(path)
  const locks = join(dataFolder, 'locks')
  mkdirSync(locks, { recursive: true, mode: 0o700 })
  const name = createHash('sha256').update(real).digest('hex').slice(0, 32)
  const database = new DatabaseSync(join(locks, `${name}.db`), { timeout: 0 })
  try {
    database.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error
    throw new WorkspaceError(
      'WORKSPACE_BUSY',
      `another run works in ${real}; wait for its end, cancel it, or give this run a folder of its own`,
    )
  }
  return {
    release: () => {
      if (database.isOpen) database.close()
    },
  }
}

function realPath(path: string): string {
  try {
    return realpathSync.native(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new WorkspaceError('WORKSPACE_MISSING', `the workspace ${path} does not exist; make the folder first`)
  }
}

const SQLITE_BUSY = 5
