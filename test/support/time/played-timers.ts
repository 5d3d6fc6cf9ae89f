import { onTestFinished, vi } from 'vitest'

/**
 * Stops the timers of this process until the test has finished. Returns a function that advances them. A time limit
 * therefore expires exactly when the test says so, after its work has started. Timers advance in the next turn, after
 * all pending pipe input was read.
 */
export function playedTimers(): (ms: number) => void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  return (ms) => void setImmediate(() => vi.advanceTimersByTime(ms))
}
