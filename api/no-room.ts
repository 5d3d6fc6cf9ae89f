import { LogError } from '../domain/log/errors.ts'

const SQLITE_FULL = 13
const DEPTH = 5

/**
 * What to tell where the disk had no room, whoever met it (log, blobs, tables, shadow versions, vault); null where it was
 * something else. Looks through causes.
 */
export function noRoom(error: unknown): string | null {
  let at = error
  for (let depth = 0; depth < DEPTH && at instanceof Error; depth++) {
    if (at instanceof LogError && at.code === 'LOG_FULL') return at.message
    const { code, errcode } = at as { code?: unknown; errcode?: unknown }
    const full =
      code === 'ENOSPC' || code === 'EDQUOT' || (typeof errcode === 'number' && (errcode & 0xff) === SQLITE_FULL)
    if (full) return `${at.message}; make room on the disk and try again`
    at = at.cause
  }
  return null
}
