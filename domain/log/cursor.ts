import { cursorError } from './errors.ts'

/**
 * A place in one log, opaque to consumers: the log's id, the position and the hash of the event there. `after` is
 * exclusive everywhere. The cursor of another log, or of a later state than a restored backup, does not match.
 */
export interface Cursor {
  readonly logId: string
  readonly position: number
  /** The prepare half of a position in EventStoreDB; absent in other logs. */
  readonly prepare?: number
  readonly hash: string
}

/** Text form for HTTP and the CLI (URL-safe). */
export function formatCursor(c: Cursor): string {
  const prepare = c.prepare === undefined ? '' : `:${c.prepare}`
  return `${c.logId}~${c.position}${prepare}~${c.hash}`
}

/** Parses the text of {@link formatCursor}. Throws `CURSOR_INVALID`. */
export function parseCursor(text: string): Cursor {
  const m = /^([0-9a-z-]+)~(\d{1,16})(?::(\d{1,16}))?~([0-9a-f]{64})$/.exec(text)
  if (!m) throw cursorError('CURSOR_INVALID', `"${text.slice(0, 80)}" is not a cursor; use one that an answer gave you`)
  const at = { logId: m[1]!, position: Number(m[2]), hash: m[4]! }
  return m[3] === undefined ? at : { ...at, prepare: Number(m[3]) }
}
