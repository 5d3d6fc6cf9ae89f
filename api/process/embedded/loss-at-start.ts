import { foreignMark } from '../../../adapters/sqlite/log/end.ts'
import type { SqliteLog } from '../../../adapters/sqlite/log/log.ts'
import { markOf, readMark } from '../../../adapters/sqlite/log/mark.ts'
import { LogError, shortened } from '../../../domain/log/errors.ts'
import { tablesReadable } from '../../../projections/engine/store/damage.ts'
import { Readers } from '../../../projections/engine/store/readers.ts'
import { type Loss, lossText } from '../../operations/losses/loss.ts'
import type { Tell } from '../../operations/notices.ts'
import { findLoss } from '../host/losses/find.ts'

/** The events that the log's mark has seen and the log does not hold. */
export const markAhead = ({ end }: SqliteLog) =>
  end.state === 'short' ? { position: end.mark.position, hash: end.mark.hash } : null

/** The id of the log that the tables were made from; null: nothing tells. */
export async function seenLogId(tables: string): Promise<string | null> {
  if (!tablesReadable(tables)) return null
  const readers = new Readers(tables)
  try {
    return (await readers.use(async () => null)).position?.logId ?? null
  } finally {
    readers.close()
  }
}

/** Throws `LOG_FOREIGN` where the tables are of another log: they may be all that is left of it. */
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

/** Position that the mark names as the log's last; null: it is begun anew, or one of its records is torn. */
export function markedBy({ end, folder }: SqliteLog): number | null {
  const found = readMark(folder)
  const told = end.state === 'short' || end.state === 'whole'
  return told && found.state === 'read' && !found.torn ? found.position : null
}

/** Holds the log against its mark and against the tables as they were found; before anything replaces them. */
export async function lossAtStart(log: SqliteLog, tables: string): Promise<Loss | null> {
  const marked = () => markedBy(log)
  if (!tablesReadable(tables)) return findLoss({ log, mark: markAhead(log), marked, read: null })
  const readers = new Readers(tables)
  try {
    return await findLoss({ log, mark: markAhead(log), marked, read: (query) => readers.use(query) })
  } finally {
    readers.close()
  }
}

const takesPlace = (end: SqliteLog['end']) => end.state === 'unreadable' && end.foreign

/** Tells the operator of this process what the end of the log says. */
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
