import type { Context } from 'hono'
import type { Services } from '../operations/services.ts'

/** Set on answers from tables that lag behind the log because the disk is full. */
export const LAGS = 'keepup-lags'

/** The number of parked streams. Set on answers if there are any. */
export const PARKED = 'keepup-parked'

/**
 * Waits until the tables include everything recorded. If the disk is full, the answer is older and has the header
 * {@link LAGS}. Also sets {@link PARKED}, because lists may lack data of parked streams.
 */
export async function current(c: Context, { read }: Pick<Services, 'read'>): Promise<void> {
  if (!(await read.current())) c.header(LAGS, 'disk-full')
  const { length } = await read.parked()
  if (length > 0) c.header(PARKED, String(length))
}
