import { SystemClock } from '../../api/process/host/clock.ts'
import type { Clock } from '../../domain/ports/index.ts'

/** A clock that stands still, by which nothing ever is late; waiting goes on. */
export function standing(instant = 0): Clock {
  const real = new SystemClock()
  return { now: () => instant, sleep: (ms, signal) => real.sleep(ms, signal) }
}
