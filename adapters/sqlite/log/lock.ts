import { join } from 'node:path'
import { LogError } from '../../../domain/log/errors.ts'
import { tryHold } from '../../files/exclusive.ts'
import { toLogError } from './errors.ts'

/**
 * Takes the folder for this process: an open `BEGIN EXCLUSIVE` on a database of its own, which the operating system
 * releases however the process ends. Returns what releases it. Throws `LOG_LOCKED`.
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
