import type { Cursor } from '../../../domain/log/cursor.ts'
import type { EventLog } from '../../../domain/ports/index.ts'
import { type Home, ProjectionError } from '../../../projections/index.ts'
import { holds } from '../host/losses/find.ts'

// Tables that are not, or not yet, those of the log.

/** The process that moves the tables makes them anew then. */
export const comesBack = (error: unknown): boolean =>
  error instanceof ProjectionError &&
  (['SCHEMA_OTHER', 'NOT_FOUND'].includes(error.code) || (error.code === 'STOPPED' && comesBack(error.cause)))

/** Where the tables stand, if the log does not hold that: it was restored, and they are to be made anew. */
export async function notHeld(home: Home, log: EventLog): Promise<Cursor | null> {
  try {
    const { position } = await home.read(async () => null)
    return position === null || (await holds(log, position)) ? null : position
  } catch (error) {
    if (comesBack(error)) return null
    throw error
  }
}
