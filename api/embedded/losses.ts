import type { SqliteLog } from '../../adapters/log-sqlite/log.ts'
import { markOf, readMark } from '../../adapters/log-sqlite/mark.ts'
import { shortened } from '../../domain/log/errors.ts'
import { tablesReadable } from '../../projections/store/damage.ts'
import { Readers } from '../../projections/store/readers.ts'
import type { Tell } from '../host/told.ts'
import { findLoss } from '../losses/find.ts'
import { type Loss, lossText } from '../losses/loss.ts'

/** What the log's mark has seen, where the log does not hold it. */
export const markAhead = ({ end }: SqliteLog) =>
  end.state === 'short' ? { position: end.mark.position, hash: end.mark.hash } : null

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

/** Tells whoever runs this process what the end of the log says. */
export function tellEnd(log: SqliteLog, loss: Loss | null, tell: Tell): void {
  const { end, folder } = log
  if (loss !== null) tell(shortened(lossText(loss)).message)
  if ((end.state === 'missing' || end.state === 'unreadable') && !end.fresh) {
    const what = end.state === 'missing' ? 'is missing' : `cannot be read (${end.why})`
    tell(
      `the mark ${markOf(folder)} ${what}: only the tables tell whether the log has lost its end. A new mark is begun; ` +
        '"keepup verify" checks what is there',
    )
  }
  if (end.state === 'whole' && end.torn)
    tell(
      `one of the two records of ${markOf(folder)} cannot be read; the other one is used, which may be an append older`,
    )
}
