import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { LogError } from '../../domain/log/errors.ts'
import { isBusy, toLogError } from './errors.ts'

/**
 * Takes the folder for this process: an open `BEGIN EXCLUSIVE` on a database of its own, which the operating system
 * releases however the process ends. Returns what releases it. Throws `LOG_LOCKED`.
 */
export function lockFolder(folder: string): () => void {
  let db: DatabaseSync | undefined
  try {
    db = new DatabaseSync(join(folder, 'lock.db'), { timeout: 0 })
    db.exec('BEGIN EXCLUSIVE')
    const held = db
    return () => held.close()
  } catch (error) {
    db?.close()
    if (!isBusy(error)) throw toLogError(error, 'lock', folder)
    throw new LogError(
      'LOG_LOCKED',
      `another process owns the log in ${folder}; let it do the work, stop it, or open the log as a reader`,
      { cause: error },
    )
  }
}
