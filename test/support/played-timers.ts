import { onTestFinished, vi } from 'vitest'

/**
 * Stops the timers of this process until the test has finished, and gives what lets them pass: a time limit is over when
 * the test says so, and not before what it is to end has begun. They pass in the next turn, when all that came at once,
 * on whatever pipes, was read.
 */
export function playedTimers(): (ms: number) => void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  return (ms) => void setImmediate(() => vi.advanceTimersByTime(ms))
}
