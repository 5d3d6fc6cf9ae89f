import type { Context } from 'hono'
import type { Services } from '../operations/services.ts'

/** Set on answers from tables that lag behind the log because the disk is full. */
export const LAGS = 'keepup-lags'

/** Set on answers from tables that cannot take some streams any further: how many. */
export const PARKED = 'keepup-parked'

/**
 * Waits for the tables to show all that is recorded; where the disk is full the answer is older, and says so. An answer also
 * says how many streams are parked: what it lists of these may be incomplete.
 */
export async function current(c: Context, { read }: Pick<Services, 'read'>): Promise<void> {
  if (!(await read.current())) c.header(LAGS, 'disk-full')
  const { length } = await read.parked()
  if (length > 0) c.header(PARKED, String(length))
}
