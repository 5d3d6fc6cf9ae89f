import { LogError, noRoomIn } from '../../domain/log/errors.ts'

/**
 * The message for a disk without room, for any part (log, blobs, tables, shadow versions, vault); null where it was
 * something else. Looks through causes.
 */
export function noRoom(error: unknown): string | null {
  const full = noRoomIn(error)
  if (full === null) return null
  return full instanceof LogError ? full.message : `${full.message}; make room on the disk and try again`
}
