import { SystemClock } from '../../../api/process/host/clock.ts'
import type { Clock } from '../../../domain/ports/index.ts'

/** A clock whose time never changes, so nothing is ever late. Sleeping still takes real time. */
export function standing(instant = 0): Clock {
  const real = new SystemClock()
  return { now: () => instant, sleep: (ms, signal) => real.sleep(ms, signal) }
}
