import type { Context } from 'hono'
import type { Services } from '../services.ts'

/** Set on answers from tables that lag behind the log because the disk is full. */
export const LAGS = 'keepup-lags'

/** Waits for the tables to show all that is recorded; where the disk is full the answer is older, and says so. */
export async function current(c: Context, { read }: Pick<Services, 'read'>): Promise<void> {
  if (!(await read.current())) c.header(LAGS, 'disk-full')
}
