import type { Cursor } from '../../../domain/log/cursor.ts'
import type { EventLog } from '../../../domain/ports/index.ts'
import { type Home, ProjectionError } from '../../../projections/index.ts'
import { logContains } from '../host/losses/find-loss.ts'

// Tables that do not belong to the log, or not yet.

/** Whether the process that updates the tables will rebuild them after this error. */
export const comesBack = (error: unknown): boolean =>
  error instanceof ProjectionError &&
  (['SCHEMA_OTHER', 'NOT_FOUND'].includes(error.code) || (error.code === 'STOPPED' && comesBack(error.cause)))

/**
 * The position of the tables if the log does not contain it: the log was restored, and the tables must be rebuilt. Null
 * otherwise.
 */
export async function notHeld(home: Home, log: EventLog): Promise<Cursor | null> {
  try {
    const { position } = await home.read(async () => null)
    return position === null || (await logContains(log, position)) ? null : position
  } catch (error) {
    if (comesBack(error)) return null
    throw error
  }
}
