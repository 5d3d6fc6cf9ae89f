import { describe, expect, test } from 'vitest'
import { MemoryLimiter } from '../../adapters/memory/rate-limiter.ts'
import { waitingFor } from '../../domain/agent/decide/waiting.ts'
import { workedAt } from '../../domain/agent/state/work-clock.ts'
import { ModelError } from '../../domain/calls/errors.ts'
import type { RateLimiter } from '../../domain/ports/index.ts'
import { call, calls, completes, testModel } from '../support/harness.ts'
import { given, type Said, tool } from '../support/story.ts'
import { VirtualClock } from '../support/time/virtual-clock.ts'

const busy = (retryAfterMs: number) => new ModelError('RATE_LIMITED', 'slow down', { transient: true, retryAfterMs })

/** A run on a clock and under a limit that others may share. */
async function limitedRun(
  says: readonly Said[],
  more: { perMinute?: number; spec?: object; limiter?: RateLimiter } = {},
) {
  const clock = new VirtualClock()
  const limiter = more.limiter ?? new MemoryLimiter(clock, () => ({ key: 'k', perMinute: more.perMinute ?? null }))
  const run = await given({ says, spec: { ...more.spec }, tools: [tool('look')], ports: { clock, limiter } })
  return { ...run, clock, limiter }
}

describe('7 one rate limit for a provider key', () => {
  test('a call that it holds back is not made; the wait is a fact, and uses no turn, attempt or time', async () => {
    const run = await limitedRun([completes()], { spec: { limits: { maxTurns: 5, wallClockMs: 10_000 } } })
    await run.limiter.refused('test-model', 45_000)
    const before = run.clock.now()
    expect(await run.drive()).toEqual({ end: 'done' })
    const [held] = await run.of('model_held')
    expect(held).toMatchObject({ turn: 1, body: { attempt: 1 } })
    expect(held?.body.delayMs).toBeGreaterThanOrEqual(45_000)
    expect(held?.body.delayMs).toBeLessThanOrEqual(49_500)
    expect(run.clock.now() - before).toBeGreaterThanOrEqual(45_000)
    expect(run.requests).toHaveLength(1)
    expect(await run.of('turn_start')).toHaveLength(1)
    expect(await run.of('recovery')).toEqual([])
    expect(workedAt((await run.state()).clock, run.clock.now())).toBeLessThan(1_000)
    expect((await run.state()).spent).toMatchObject({ input: 10, output: 5 })
    expect((await run.runtime.verify(run.runId)).problems).toEqual([])
  })

  test('what one run is refused holds back the others, up to the cap', async () => {
    const first = await limitedRun([busy(900_000), completes()])
    await first.drive()
    const [failure] = await first.of('error')
    expect(failure?.body).toMatchObject({ delayMs: 60_000, limited: true })
    const clock = new VirtualClock()
    const limiter = new MemoryLimiter(clock, () => ({ key: 'k', perMinute: null }))
    const says = [busy(20_000), completes()]
    const ports = { clock, limiter }
    const [a, b] = [await given({ says, ports }), await given({ says: [completes()], ports })]
    const alarm = clock.alarm.bind(clock)
    let other: Promise<unknown> | null = null
    clock.alarm = (ms, ring) => {
      if (ms > 15_000 && ms < 25_000) other ??= b.drive()
      return alarm(ms, ring)
    }
    expect(await a.drive()).toEqual({ end: 'done' })
    expect(await other).toEqual({ end: 'done' })
    expect(await b.of('model_held')).not.toEqual([])
    expect(b.requests).toHaveLength(1)
  })

  test('the time of a run stands still while it waits as its provider asked', async () => {
    const spec = { limits: { maxTurns: 9, wallClockMs: 20_000 }, retry: { maxRetries: 2 } }
    const run = await limitedRun([busy(50_000), calls(call('look')), completes()], { spec })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(await run.of('recovery')).toEqual([])
    expect(workedAt((await run.state()).clock, run.clock.now())).toBeLessThan(1_000)
  })

  test('held attempts are no retries: a failure after them has all of its own', async () => {
    const network = new ModelError('NETWORK', 'reset', { transient: true })
    const run = await limitedRun([network, network, completes()], { spec: { retry: { maxRetries: 2, backoffMs: 10 } } })
    await run.limiter.refused('test-model', 5_000)
    expect(await run.drive()).toEqual({ end: 'done' })
    expect((await run.of('turn_start')).length).toBe(1)
    expect((await run.of('model_call_start')).map(({ body }) => body.attempt)).toEqual([1, 2, 3, 4])
  })

  test('in recovery the grace time goes on', async () => {
    const spec = { limits: { maxTurns: 1, wallClockMs: null }, recovery: { graceTimeoutMs: 10_000 } }
    const run = await limitedRun([completes()], { spec })
    await run.limiter.refused('test-model', 50_000)
    expect(await run.drive()).toMatchObject({ code: 'RECOVERY_FAILED' })
  })

  test('another process goes on waiting, and a cancel ends the wait', async () => {
    const run = await limitedRun([completes()])
    await run.limiter.refused('test-model', 40_000)
    const stop = new AbortController()
    const alarm = run.clock.alarm.bind(run.clock)
    run.clock.alarm = (ms, ring) => {
      if (ms > 39_000 && ms < 45_000) stop.abort(new Error('stopped'))
      return alarm(ms, ring)
    }
    expect(await run.drive(stop.signal)).toEqual({ end: 'interrupted' })
    run.clock.alarm = alarm
    expect(waitingFor(await run.state())).toBe(null)
    await run.say({ kind: 'cancel', deadlineMs: 10_000 })
    expect((await run.state()).machine).toMatchObject({ status: 'ERROR', code: 'CANCELLED' })
    expect(run.requests).toEqual([])
  })

  test('requests a minute: a tenth of them at once, then one after the other', async () => {
    const clock = new VirtualClock()
    const limiter = new MemoryLimiter(clock, () => ({ key: 'k', perMinute: 20 }))
    expect([await limiter.admit('m'), await limiter.admit('m'), await limiter.admit('m')]).toEqual([0, 0, 3_000])
    await clock.sleep(3_000)
    expect([await limiter.admit('m'), await limiter.admit('m')]).toEqual([0, 3_000])
  })

  test('a limiter that cannot be asked holds nothing back', async () => {
    const broken: RateLimiter = {
      admit: () => Promise.reject(new Error('no server')),
      refused: () => Promise.reject(new Error('no server')),
    }
    const run = await limitedRun([busy(1_000), completes()], { limiter: broken })
    expect(await run.drive()).toEqual({ end: 'done' })
  })

  test('a model of another key is not held back', async () => {
    const clock = new VirtualClock()
    const limiter = new MemoryLimiter(clock, (model) => ({ key: model, perMinute: null }))
    await limiter.refused('other', 30_000)
    const run = await given({
      says: [completes()],
      ports: { clock, limiter },
      spec: { models: { requested: 'test-model', safeDefault: 'test-model', known: [testModel] } },
    })
    await run.drive()
    expect(await run.of('model_held')).toEqual([])
  })
})
