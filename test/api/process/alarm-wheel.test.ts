import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { AlarmWheel } from '../../../api/process/host/alarm-wheel.ts'
import { SystemClock } from '../../../api/process/host/clock.ts'
import { TimeLimitError } from '../../../domain/stream/runtime/errors.ts'
import { ABORT_GRACE_MS, limited, within } from '../../../domain/stream/runtime/time-limit.ts'
import { NEVER } from '../../support/process.ts'
import { property } from '../../support/property.ts'

const run = promisify(execFile)
const TIMERS = { toFake: ['setTimeout', 'clearTimeout'] as ('setTimeout' | 'clearTimeout')[] }

describe('alarms over one timer', () => {
  beforeEach(() => void vi.useFakeTimers(TIMERS))
  afterEach(() => void vi.useRealTimers())

  /** A wheel whose time goes on with the timers, but for the time that the machine sleeps. */
  function wheel() {
    const at = { now: 0, monotonic: 0.25 }
    const pass = (ms: number) => {
      at.now += ms
      at.monotonic += ms
      vi.advanceTimersByTime(ms)
    }
    const wheel = new AlarmWheel(
      () => at.now,
      () => at.monotonic,
    )
    return { at, pass, wheel }
  }

  test('ring once, in the order of their times, never early, and not after they were called off', () => {
    const step = fc.record({ set: fc.nat(200_000), pass: fc.nat(150_000), callOff: fc.option(fc.nat(20)) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        const { at, pass, wheel: alarms } = wheel()
        const set: { due: number; off: () => void; end: 'rung' | 'off' | null }[] = []
        const rung: number[] = []
        for (const { set: ms, pass: by, callOff } of steps) {
          const one = { due: at.now + ms, off: () => {}, end: null as 'rung' | 'off' | null }
          one.off = alarms.alarm(ms, () => {
            expect(one.end).toBe(null)
            expect(at.now).toBeGreaterThanOrEqual(one.due)
            one.end = 'rung'
            rung.push(one.due)
          })
          set.push(one)
          const other = callOff === null ? undefined : set[callOff]
          other?.off()
          if (other?.end === null) other.end = 'off'
          for (let left = by; left > 0; left -= 1_000) pass(Math.min(left, 1_000))
          for (const { due, end } of set) expect(end !== null || due > at.now - 1_000).toBe(true)
        }
        for (let left = 0; left < 220; left++) pass(1_000)
        expect(set.filter(({ end }) => end === null)).toEqual([])
        expect(rung).toEqual(rung.toSorted((a, b) => a - b))
        expect(vi.getTimerCount()).toBeLessThanOrEqual(1)
      }),
      property(30),
    )
  })

  test('one timer serves all of them', () => {
    const { wheel: alarms } = wheel()
    const off = Array.from({ length: 1_000 }, (_, n) => alarms.alarm(1_000 + n, () => undefined))
    expect(vi.getTimerCount()).toBe(1)
    for (const callOff of off) callOff()
    expect(vi.getTimerCount()).toBeLessThanOrEqual(1)
  })

  test('an alarm that comes due while the machine sleeps rings within a minute after it wakes', () => {
    const { at, pass, wheel: alarms } = wheel()
    let rung = false
    alarms.alarm(30 * 60_000, () => {
      rung = true
    })
    pass(60_000)
    at.now += 60 * 60_000
    expect(rung).toBe(false)
    pass(60_000)
    expect(rung).toBe(true)
  })

  test('a clock that leaps forward shortens no wait, but ends one that it has passed within a minute', () => {
    const { at, pass, wheel: alarms } = wheel()
    const rung: string[] = []
    alarms.alarm(50_000, () => rung.push('short'))
    alarms.alarm(10 * 60_000, () => rung.push('long'))
    alarms.alarm(10, () => rung.push('first'))
    at.now += 60 * 60_000
    pass(10)
    expect(rung).toEqual(['first'])
    pass(49_989)
    expect(rung).toEqual(['first'])
    pass(1)
    expect(rung).toEqual(['first', 'short'])
    pass(10_000)
    expect(rung).toEqual(['first', 'short', 'long'])
  })

  test('after the process stood still, answers that wait are heard before alarms ring', async () => {
    const { at, pass, wheel: alarms } = wheel()
    const rung: string[] = []
    const off = alarms.alarm(1_000, () => rung.push('answered'))
    alarms.alarm(1_000, () => rung.push('hung'))
    at.now += 10 * 60_000
    at.monotonic += 10 * 60_000
    pass(1_000)
    // The event loop gives out what came meanwhile after its timers, and before its immediates.
    off()
    expect(rung).toEqual([])
    await new Promise(setImmediate)
    expect(rung).toEqual(['hung'])
  })

  test('an alarm that throws keeps no other from ringing', () => {
    const { pass, wheel: alarms } = wheel()
    const rung: string[] = []
    alarms.alarm(10, () => {
      throw new Error('a listener failed')
    })
    alarms.alarm(10, () => rung.push('second'))
    alarms.alarm(20, () => rung.push('third'))
    expect(() => pass(10)).toThrow('a listener failed')
    pass(10)
    expect(rung).toEqual(['second', 'third'])
  })

  test('an alarm may set and call off others while it rings', () => {
    const { pass, wheel: alarms } = wheel()
    const rung: string[] = []
    alarms.alarm(10, () => {
      rung.push('first')
      off()
      alarms.alarm(10, () => rung.push('third'))
    })
    const off = alarms.alarm(10, () => rung.push('second'))
    pass(10)
    expect(rung).toEqual(['first'])
    pass(10)
    expect(rung).toEqual(['first', 'third'])
  })
})

describe('limits by the system clock', () => {
  beforeEach(() => void vi.useFakeTimers(TIMERS))
  afterEach(() => void vi.useRealTimers())

  function clock() {
    const at = { now: 0 }
    const system = new SystemClock({ wall: () => at.now, monotonic: () => at.now })
    const pass = async (ms: number) => {
      at.now += ms
      await vi.advanceTimersByTimeAsync(ms)
    }
    return { pass, system }
  }

  test('a port call that hangs is a named error at its limit; one that answered leaves no alarm', async () => {
    const { pass, system } = clock()
    expect(await within(system, 60_000, 'the log (read)', Promise.resolve(1))).toBe(1)
    const hung = within(system, 60_000, 'the log (read)', NEVER)
    const refused = expect(hung).rejects.toThrow(TimeLimitError)
    await pass(60_000)
    await refused
  })

  test('an attempt is aborted at its limit, and given up a grace later', async () => {
    const { pass, system } = clock()
    let told: unknown
    const attempt = limited(system, 1_000, new AbortController().signal, (signal) => {
      signal.addEventListener('abort', () => {
        told = signal.reason
      })
      return NEVER
    })
    await pass(1_000)
    expect(told).toMatchObject({ message: 'no end within 1000 ms' })
    await pass(ABORT_GRACE_MS)
    expect(await attempt).toMatchObject({ end: 'hung', durationMs: 1_000 + ABORT_GRACE_MS })
  })

  test('an attempt whose caller has gone is aborted with the reason, before it begins too', async () => {
    const { pass, system } = clock()
    const stop = new AbortController()
    const reasons: unknown[] = []
    const work = (signal: AbortSignal) =>
      new Promise<never>((_, reject) => {
        const end = () => {
          reasons.push(signal.reason)
          reject(signal.reason)
        }
        if (signal.aborted) end()
        else signal.addEventListener('abort', end)
      })
    const under = limited(system, 1_000, stop.signal, work)
    stop.abort('gone')
    expect(await under).toMatchObject({ end: 'error', error: 'gone', timedOut: false })
    expect(await limited(system, 1_000, stop.signal, work)).toMatchObject({ end: 'error', error: 'gone' })
    expect(reasons).toEqual(['gone', 'gone'])
    await pass(10_000)
  })
})

describe('a process', () => {
  const script = (text: string) =>
    run(process.execPath, ['--input-type=module', '-e', text], { cwd: `${import.meta.dirname}/../../..` })
  const wheel = "import { SystemClock } from './api/process/host/clock.ts'; const clock = new SystemClock();"

  test('ends although an alarm was set for tomorrow, once that is called off', async () => {
    const { stdout } = await script(`${wheel} clock.alarm(86_400_000, () => {})(); console.log('ended')`)
    expect(stdout).toBe('ended\n')
  })

  test('does not end before an alarm that is set has rung, also after all others were called off', async () => {
    const { stdout } = await script(
      `${wheel} clock.alarm(5, () => {})(); clock.alarm(40, () => console.log('rung')); clock.alarm(20, () => {})()`,
    )
    expect(stdout).toBe('rung\n')
  })
})
