import { LogError, noRoomIn } from '../../domain/log/errors.ts'

/**
 * What to tell where the disk had no room, whoever met it (log, blobs, tables, shadow versions, vault); null where it was
 * something else. Looks through causes.
 */
export function noRoom(error: unknown): string | null {
  const full = noRoomIn(error)
  if (full === null) return null
  return full instanceof LogError ? full.message : `${full.message}; make room on the disk and try again`
}
