import { describe, expect, test } from 'vitest'
import { waitingFor } from '../../domain/agent/decide/waiting.ts'
import { workedAt } from '../../domain/agent/state/work-clock.ts'
import { ModelError } from '../../domain/calls/errors.ts'
import { call, calls, completes, says, testModel } from '../support/harness.ts'
import { given, type Said, tool } from '../support/story.ts'

const network = new ModelError('NETWORK', 'connection reset', { transient: true })
const HOUR = 3_600_000
const retry = { modelOutageMs: HOUR }
const failing = (times: number, ...after: Said[]): Said[] => [...Array<Said>(times).fill(network), ...after]
const models = {
  requested: 'big',
  safeDefault: 'small',
  known: ['big', 'small'].map((id) => ({ ...testModel, id })),
}

describe('an outage of the models', () => {
  test('is waited for, within the turn; no turn and no time of the run is used', async () => {
    const limits = { maxTurns: 10, wallClockMs: 60_000 }
    const run = await given({ says: failing(12, completes()), spec: { retry, limits } })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(run.requests).toHaveLength(13)
    expect(await run.of('turn_start')).toHaveLength(1)
    expect(await run.of('recovery')).toEqual([])
    const state = await run.state()
    expect(workedAt(state.clock, run.clock.now())).toBeLessThan(30_000)
    expect((await run.runtime.verify(run.runId)).problems).toEqual([])
  })

  test('the waits are facts that grow to five minutes, after the retries of any failure', async () => {
    const run = await given({ says: failing(14, completes()), spec: { retry } })
    await run.drive()
    const errors = (await run.of('error')).map(({ body }) => body)
    expect(errors.map(({ outage }) => outage ?? false)).toEqual([false, false, ...Array(12).fill(true)])
    const delays = errors.map(({ delayMs }) => delayMs ?? 0)
    for (let n = 1; n < delays.length; n++) expect(delays[n]).toBeGreaterThanOrEqual(delays[n - 1]!)
    expect(delays.at(-1)).toBe(300_000)
  })

  test('ends with MODEL_FAILED after modelOutageMs, and not before', async () => {
    const run = await given({ says: [network], spec: { retry } })
    expect(await run.drive()).toMatchObject({
      end: 'error',
      code: 'MODEL_FAILED',
      error: expect.stringMatching(/no model has answered for 3600 s: NETWORK: connection reset/),
    })
    const waited = (await run.of('error')).flatMap(({ body }) => (body.outage ? [body.delayMs ?? 0] : []))
    expect(waited.reduce((sum, ms) => sum + ms, 0)).toBe(HOUR)
    expect(await run.of('turn_start')).toHaveLength(1)
    expect((await run.of('turn_end')).map(({ body }) => body.outcome)).toEqual(['failed'])
  })

  test.each([
    ['no settings of a backoff', { ...retry, backoffMs: 0, backoffMultiplier: 1, maxRetries: 0 }],
    ['many retries', { ...retry, maxRetries: 20 }],
  ])('is asked after a bounded number of times, with %s', async (_, more) => {
    const run = await given({ says: [network], spec: { retry: more } })
    expect(await run.drive()).toMatchObject({ code: 'MODEL_FAILED' })
    expect(run.requests.length).toBeLessThan(60)
  })

  test('counts attempts that hang, each up to its time limit', async () => {
    const hangs = () => new Promise<never>(() => undefined)
    const known = [{ ...testModel, id: 'big', timeoutMs: 60_000 }]
    const spec = {
      retry: { maxRetries: 0, modelOutageMs: 300_000 },
      models: { requested: 'big', safeDefault: 'big', known },
    }
    const run = await given({ says: [hangs], spec })
    const before = run.clock.now()
    expect(await run.drive()).toMatchObject({ code: 'MODEL_FAILED' })
    expect(run.clock.now() - before).toBeLessThan(300_000 + 3 * 66_000)
  })

  test('Retry-After is honoured, up to its cap', async () => {
    const busy = new ModelError('RATE_LIMITED', 'slow down', { transient: true, retryAfterMs: 40_000 })
    const run = await given({ says: [busy, completes()], spec: { retry: { ...retry, maxRetries: 0 } } })
    await run.drive()
    expect((await run.of('error')).map(({ body }) => [body.delayMs, body.outage])).toEqual([[40_000, true]])
  })

  test('begins when every model that the rules allow has failed', async () => {
    const run = await given({ says: failing(6, completes()), spec: { retry, models } })
    expect(await run.drive()).toEqual({ end: 'done' })
    expect(run.requests.map(({ model }) => model)).toEqual([...Array(3).fill('big'), ...Array(4).fill('small')])
    expect(await run.of('turn_start')).toHaveLength(2)
    expect((await run.of('error')).map(({ body }) => body.outage ?? false)).toEqual([...Array(5).fill(false), true])
  })

  test('an answer that cannot be used is none: three such turns end the run', async () => {
    const unusable = new ModelError('INVALID_RESPONSE', 'half a document', { transient: true })
    const run = await given({ says: [unusable], spec: { retry: { ...retry, maxRetries: 0 } } })
    expect(await run.drive()).toMatchObject({
      code: 'MODEL_FAILED',
      error: expect.stringContaining('3 turns in a row'),
    })
    expect(await run.of('turn_start')).toHaveLength(3)
  })

  test('a lasting failure ends the run also during an outage', async () => {
    const run = await given({ says: failing(5, new ModelError('AUTHENTICATION', 'bad key')), spec: { retry } })
    expect(await run.drive()).toMatchObject({ code: 'MODEL_FAILED', error: expect.stringContaining('bad key') })
  })

  test('in recovery the grace time decides', async () => {
    const limits = { maxTurns: 1, wallClockMs: null }
    const short = await given({ says: failing(5, completes()), spec: { retry, limits } })
    expect(await short.drive()).toEqual({ end: 'done' })
    const long = await given({ says: [network], spec: { retry, limits } })
    const before = long.clock.now()
    expect(await long.drive()).toMatchObject({ code: 'RECOVERY_FAILED' })
    expect(long.clock.now() - before).toBeLessThanOrEqual(61_000)
    expect((await long.of('error')).some(({ body }) => body.outage)).toBe(false)
  })

  test('a run without an outage limit ends with its third failed turn', async () => {
    const run = await given({ says: [network] })
    expect(await run.drive()).toMatchObject({
      code: 'MODEL_FAILED',
      error: expect.stringContaining('3 turns in a row'),
    })
  })
})

describe('while a run waits for its models', () => {
  /** A run in its third wait, whose driver was stopped there. */
  const waiting = async (...after: Said[]) => {
    const run = await given({
      says: [calls(call('look')), network, network, network, ...after],
      tools: [tool('look')],
      spec: { retry: { ...retry, maxRetries: 0 } },
    })
    const stop = new AbortController()
    const alarm = run.clock.alarm.bind(run.clock)
    run.clock.alarm = (ms, ring) => {
      if (ms > 3_900 && ms < 4_500) stop.abort(new Error('stopped'))
      return alarm(ms, ring)
    }
    expect(await run.drive(stop.signal)).toEqual({ end: 'interrupted' })
    run.clock.alarm = alarm
    return run
  }

  test('it shows what it waits for, and the next driver goes on waiting', async () => {
    const run = await waiting(completes())
    const state = await run.state()
    expect(waitingFor(state)).toBe('model')
    const before = run.clock.now()
    expect(await run.elsewhere().drive(run.runId, { signal: new AbortController().signal })).toEqual({ end: 'done' })
    expect(run.clock.now() - before).toBeGreaterThan(1_000)
    expect(await run.of('turn_start')).toHaveLength(2)
  })

  test('a cancel ends it at once', async () => {
    const run = await waiting(completes())
    const before = run.requests.length
    await run.say({ kind: 'cancel', deadlineMs: 10_000 })
    expect((await run.state()).machine).toMatchObject({ status: 'ERROR', code: 'CANCELLED' })
    expect(run.requests).toHaveLength(before)
  })

  test('a pause holds it at once, and a resume goes on waiting', async () => {
    const run = await waiting(completes())
    await run.say({ kind: 'pause' })
    expect(waitingFor(await run.state())).toBe('pause')
    expect(await run.drive()).toMatchObject({ end: 'waiting', for: 'pause' })
    await run.say({ kind: 'resume' })
    expect(waitingFor(await run.state())).toBe('model')
    expect(await run.drive()).toEqual({ end: 'done' })
  })

  test('input is recorded at once, and read by the next turn', async () => {
    const run = await waiting(says('I go on.'), completes())
    await run.say({ kind: 'input', text: 'also this' })
    expect((await run.state()).unread).toBe(1)
    await run.drive()
    expect((await run.of('user_input')).map(({ body }) => body.text)).toContain('also this')
  })
})
