import { SystemClock } from '../../api/host/clock.ts'
import type { Clock } from '../../domain/ports.ts'

/** A clock that stands still, by which nothing ever is late; waiting goes on. */
export function standing(): Clock {
  const real = new SystemClock()
  return { now: () => 0, sleep: (ms, signal) => real.sleep(ms, signal) }
}
