import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as wait } from 'node:timers/promises'
import { makeFolder } from './folders.ts'
import { ensurePrivate } from './private.ts'

/** A locked file. The lock ends with `release`, or with the process. */
export interface FileLock {
  release(): void
}

/**
 * Keeps the databases of locked files referenced. The garbage collector would close a database, which would release its
 * lock.
 */
const open = new Set<DatabaseSync>()

/**
 * Locks a file by an open `BEGIN EXCLUSIVE`. Null: this process or another one has had the lock for `waitMs`. The wait
 * blocks this thread.
 */
export function tryHold(file: string, waitMs = 0): FileLock | null {
  makeFolder(dirname(file))
  ensurePrivate(file)
  const database = new DatabaseSync(file, { timeout: waitMs })
  try {
    database.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error
    return null
  }
  open.add(database)
  return {
    release: () => {
      if (open.delete(database)) database.close()
    },
  }
}

const LOOK_MS = 10
const PATIENCE_MS = 30_000

/** Runs `act` with the lock of a file. Rejects if another holder keeps the lock for half a minute. */
export async function exclusively<T>(file: string, act: () => Promise<T>): Promise<T> {
  const until = performance.now() + PATIENCE_MS
  let held = tryHold(file)
  while (held === null) {
    if (performance.now() > until)
      throw new Error(
        `another process holds ${file} and does not go on; look for a stopped "keepup" (ps, then kill -CONT)`,
      )
    await wait(LOOK_MS)
    held = tryHold(file)
  }
  try {
    return await act()
  } finally {
    held.release()
  }
}

const SQLITE_BUSY = 5
