import type { DatabaseSync } from 'node:sqlite'
import { LOG_META } from '../../../domain/log/ids.ts'
import { unsalted } from '../../../domain/log/seal.ts'
import { type FoundMark, type MarkRecord, markOf, readMark } from './mark.ts'

/**
 * The result of comparing the log with its mark. `whole`: the log contains the marked event. `short`: the log lacks
 * that event, so it has lost its end. `foreign`: the mark belongs to another log. `missing` and `unreadable`: nothing
 * is known. `fresh`: the log contains at most its identity. The member `foreign`: the file at the mark's path is not a
 * mark.
 */
export type LogEnd =
  | { readonly state: 'whole'; readonly torn: boolean }
  | { readonly state: 'short'; readonly mark: MarkRecord; readonly last: number }
  | { readonly state: 'foreign'; readonly mark: MarkRecord; readonly logId: string }
  | { readonly state: 'missing'; readonly fresh: boolean }
  | { readonly state: 'unreadable'; readonly why: string; readonly foreign: boolean; readonly fresh: boolean }

/**
 * Compares the log with its mark. `db`: any connection to the log. Reads the mark before the log, because the log only
 * grows.
 */
export function endOfLog(folder: string, db: DatabaseSync): LogEnd {
  return compared(readMark(folder), db)
}

function compared(mark: FoundMark, db: DatabaseSync): LogEnd {
  const last = Number(db.prepare('SELECT ifnull(max(position), 0) AS last FROM events').get()?.last)
  if (mark.state !== 'read') return { ...mark, fresh: last <= 1 }
  const { logId, position, hash } = mark
  const own = storedLogId(db)
  if (own !== null && own !== logId) return { state: 'foreign', mark: { logId, position, hash }, logId: own }
  const at = db.prepare('SELECT lower(hex(substr(proof, 1, 32))) AS hash FROM events WHERE position = ?')
  if (at.get(position)?.hash === hash) return { state: 'whole', torn: mark.torn }
  return { state: 'short', mark: { logId, position, hash }, last }
}

/** The id in the log's first event; null if there is none yet. Unverified: for the mark only. */
export function storedLogId(db: DatabaseSync): string | null {
  const row = db
    .prepare(
      'SELECT b.bytes FROM events e JOIN streams s ON s.id = e.stream JOIN bodies b ON b.position = e.position ' +
        'WHERE s.name = ? AND e.revision = 0',
    )
    .get(LOG_META)
  if (!(row?.bytes instanceof Uint8Array)) return null
  try {
    const { logId } = JSON.parse(new TextDecoder().decode(unsalted(row.bytes))) as { logId?: unknown }
    return typeof logId === 'string' ? logId : null
  } catch {
    return null
  }
}

/** Ranges of positions without an event, before later events; at most `limit`. */
export function gapsIn(db: DatabaseSync, limit: number): { readonly from: number; readonly to: number }[] {
  const { n, last } = db.prepare('SELECT count(*) AS n, ifnull(max(position), 0) AS last FROM events').get() as {
    n: number
    last: number
  }
  if (n === last) return []
  const rows = db.prepare(
    'SELECT before + 1 AS "from", position - 1 AS "to" FROM (SELECT position, lag(position, 1, 0) OVER (ORDER BY position) ' +
      'AS before FROM events) WHERE position > before + 1 ORDER BY position LIMIT ?',
  )
  return rows.all(limit).map((row) => ({ from: Number(row.from), to: Number(row.to) }))
}

/** The error message for the mark of another log. */
export const foreignMark = (folder: string, end: Extract<LogEnd, { state: 'foreign' }>): string =>
  `${markOf(folder)} is of another log (${end.mark.logId}; this is log ${end.logId}); put back the mark of this log, or ` +
  'delete it: without one only the tables tell whether the log has lost its end'
