import type { Cursor } from '../../../domain/log/cursor.ts'
import { LogError } from '../../../domain/log/errors.ts'
import type { EventLog } from '../../../domain/ports/index.ts'

/** The number of events after a cursor, counted up to `most`. Null: the log does not contain the cursor. */
export async function countEventsAfter(
  log: Pick<EventLog, 'readAll'>,
  cursor: Cursor | null,
  most: number,
): Promise<number | null> {
  let count = 0
  try {
    for await (const page of log.readAll(cursor, { limit: most, bodies: false })) count += page.length
  } catch (error) {
    if (error instanceof LogError && error.code === 'CURSOR_MISMATCH') return null
    throw error
  }
  return count
}
