import { join } from 'node:path'
import { LogError } from '../../../domain/log/errors.ts'
import { tryHold } from '../../files/exclusive.ts'
import { toLogError } from './errors.ts'

/**
 * Locks the folder for this process with an open `BEGIN EXCLUSIVE` on a separate database. The operating system
 * releases the lock at any end of the process. Returns the function that releases the lock. Throws `LOG_LOCKED`.
 */
export function lockFolder(folder: string): () => void {
  try {
    const held = tryHold(join(folder, 'lock.db'))
    if (held !== null) return held.release
  } catch (error) {
    throw toLogError(error, 'lock', folder)
  }
  throw new LogError(
    'LOG_LOCKED',
    `another process owns the log in ${folder}; let it do the work, stop it, or open the log as a reader`,
  )
}
