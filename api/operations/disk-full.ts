import { LogError, noRoomIn } from '../../domain/log/errors.ts'

/**
 * The message for a full disk, of any part (log, blobs, tables, workspace versions, vault). Null: a different error.
 * Follows causes.
 */
export function noRoom(error: unknown): string | null {
  const full = noRoomIn(error)
  if (full === null) return null
  return full instanceof LogError ? full.message : `${full.message}; make room on the disk and try again`
}
