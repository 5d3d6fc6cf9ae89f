import { describe, expect, test, vi } from 'vitest'
import { SystemClock } from '../../../api/process/host/clock.ts'

/** A wall and a monotonic clock that a test sets. */
function clocks(wall = 1_000_000) {
  const at = { wall, monotonic: 7.25 }
  const clock = new SystemClock({ wall: () => at.wall, monotonic: () => at.monotonic })
  const pass = (ms: number) => {
    at.wall += ms
    at.monotonic += ms
  }
  return { at, clock, pass }
}

describe('the clock', () => {
  test('follows the wall where it goes on, or was set forward', () => {
    const { at, clock, pass } = clocks()
    pass(1500)
    expect(clock.now()).toBe(1_001_500)
    at.wall += 3_600_000
    expect(clock.now()).toBe(4_601_500)
  })

  test('goes on as time does where the wall was set back, and follows it again once that has come so far', () => {
    const { at, clock, pass } = clocks()
    at.wall -= 3_600_000
    expect(clock.now()).toBe(1_000_000)
    pass(60_000)
    expect(clock.now()).toBe(1_060_000)
    pass(0.5)
    expect(Number.isInteger(clock.now())).toBe(true)
    at.wall = 1_070_000
    expect(clock.now()).toBe(1_070_000)
  })

  test('begins where the log ends, and does not stand there until the wall has come so far', () => {
    const { clock, pass } = clocks()
    clock.notBefore(9_000_000)
    clock.notBefore(5)
    expect(clock.now()).toBe(9_000_000)
    pass(250)
    expect(clock.now()).toBe(9_000_250)
  })

  test('a wait ends by it: neither a wall that was set back nor a timer that comes early moves the end', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const { at, clock, pass } = clocks()
      let ended = false
      const waiting = clock.sleep(100_000).then(() => {
        ended = true
      })
      at.wall -= 3_600_000
      pass(60_000)
      await vi.advanceTimersByTimeAsync(60_000)
      expect(ended).toBe(false)
      // The machine has slept: its timers have not seen it, the wall has.
      at.wall += 3_600_000 + 39_999
      await vi.advanceTimersByTimeAsync(40_000)
      expect(ended).toBe(false)
      pass(1)
      await vi.advanceTimersByTimeAsync(1)
      await waiting
    } finally {
      vi.useRealTimers()
    }
  })

  test('rejects a wait with the reason of its signal, and at once where it was aborted before', async () => {
    const clock = new SystemClock()
    const reason = new Error('enough')
    const controller = new AbortController()
    const waiting = clock.sleep(60_000, controller.signal)
    controller.abort(reason)
    await expect(waiting).rejects.toBe(reason)
    await expect(clock.sleep(60_000, controller.signal)).rejects.toBe(reason)
  })

  test('lets go of the signal when the time has come', async () => {
    const clock = new SystemClock()
    const controller = new AbortController()
    await clock.sleep(0, controller.signal)
    controller.abort(new Error('late'))
    await clock.sleep(0)
  })
})
