import type { SqliteLog } from '../../../adapters/sqlite/log/log.ts'
import { foreignMark } from '../../../adapters/sqlite/log/log-end.ts'
import { markOf, readMark } from '../../../adapters/sqlite/log/mark.ts'
import { LogError, shortened } from '../../../domain/log/errors.ts'
import { tablesReadable } from '../../../projections/engine/store/damage.ts'
import { Readers } from '../../../projections/engine/store/readers.ts'
import { type Loss, lossText, type Seen } from '../../operations/losses/loss.ts'
import type { Tell } from '../../operations/notices.ts'
import { findLoss } from '../host/losses/find-loss.ts'

/** The last event of the log's mark, if the log does not contain it. */
export const markAhead = ({ end }: SqliteLog) =>
  end.state === 'short' ? { position: end.mark.position, hash: end.mark.hash } : null

/** The id of the log that the tables were built from. Null: not known. */
export async function seenLogId(tables: string): Promise<string | null> {
  if (!tablesReadable(tables)) return null
  const readers = new Readers(tables)
  try {
    return (await readers.use(async () => null)).position?.logId ?? null
  } finally {
    readers.close()
  }
}

/** Throws `LOG_FOREIGN` if the tables belong to another log, because they may be the only remains of that log. */
export async function refuseForeignTables(log: SqliteLog, tables: string): Promise<void> {
  const logId = await seenLogId(tables)
  if (logId === null || logId === log.logId) return
  throw new LogError(
    'LOG_FOREIGN',
    `the tables in ${tables} were made from another log (${logId}) than the one in ${log.folder} (${log.logId}), and may be ` +
      'all that is left of it; put back the log that belongs to them, or, to go on with this one, move the tables away: ' +
      'they are made anew',
  )
}

/** The position of the log's last event according to the mark. Null: the mark is new, or one of its records is torn. */
export function markedBy({ end, folder }: SqliteLog): number | null {
  const found = readMark(folder)
  const told = end.state === 'short' || end.state === 'whole'
  return told && found.state === 'read' && !found.torn ? found.position : null
}

/**
 * Compares the log with its mark, with the stored tables and with its signed heads. Call this before the tables are
 * replaced.
 */
export async function lossAtStart(log: SqliteLog, tables: string, heads: Seen | undefined): Promise<Loss | null> {
  const marked = () => markedBy(log)
  if (!tablesReadable(tables)) return findLoss({ log, mark: markAhead(log), heads, marked, read: null })
  const readers = new Readers(tables)
  try {
    return await findLoss({ log, mark: markAhead(log), heads, marked, read: (query) => readers.use(query) })
  } finally {
    readers.close()
  }
}

const takesPlace = (end: SqliteLog['end']) => end.state === 'unreadable' && end.foreign

/** Reports the state of the log's end to the operator. */
export function tellEnd(log: SqliteLog, loss: Loss | null, tell: Tell): void {
  const { end, folder } = log
  if (loss !== null) tell(shortened(lossText(loss)).message)
  if ((end.state === 'missing' || end.state === 'unreadable') && !end.fresh) {
    const what = end.state === 'missing' ? 'is missing' : `cannot be read (${end.why})`
    const next = takesPlace(end)
      ? 'No new mark is begun while this is in its place: move it away, then start again'
      : 'A new mark is begun'
    tell(
      `the mark ${markOf(folder)} ${what}: only the tables tell whether the log has lost its end. ${next}; ` +
        '"keepup verify" checks what is there',
    )
  }
  if (end.state === 'foreign') tell(foreignMark(folder, end))
  if (end.state === 'whole' && end.torn)
    tell(
      `one of the two records of ${markOf(folder)} cannot be read; the other one is used, which may be an append older`,
    )
}
