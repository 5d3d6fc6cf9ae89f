import { onTestFinished, vi } from 'vitest'

/**
 * Stops the timers of this process until the test has finished, and gives what lets them pass: a time limit is over when
 * the test says so, and not before what it is to end has begun.
 */
export function playedTimers(): (ms: number) => void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  return (ms) => void vi.advanceTimersByTime(ms)
}
