import { afterEach, beforeEach, expect, test } from 'vitest'
import { MemoryLeases } from '../../../adapters/memory/leases.ts'
import { MemoryLog } from '../../../adapters/memory/log.ts'
import { SystemClock } from '../../../api/process/host/clock.ts'
import type { LeaseOptions } from '../../../api/process/servers/lease.ts'
import { LeasedRuntime } from '../../../api/process/servers/leased-runtime.ts'
import { ToolError } from '../../../domain/calls/errors.ts'
import { LogError } from '../../../domain/log/errors.ts'
import type { Leases, Tool } from '../../../domain/ports/index.ts'
import {
  call,
  calls,
  completes,
  harness,
  MemoryBlobs,
  seededRandom,
  testSpec,
  toolSpec,
  USER,
} from '../../support/harness.ts'
import { standing } from '../../support/time/standing-clock.ts'

// Several processes over one log, as several runtimes in this one.

const LONG = new AbortController().signal
/** Long enough for no lease to pass by itself here. */
const TTL_MS = 60_000

let closed: AbortController
beforeEach(() => {
  closed = new AbortController()
})
afterEach(() => closed.abort(new Error('the test is over')))

/** Runtimes that share a log; `at` says what happens when the tool is performed. */
function deployment(at: (signal: AbortSignal) => Promise<string>) {
  const clock = new SystemClock()
  const leases = new MemoryLeases(clock)
  const tool: Tool = {
    spec: toolSpec('fx:act', { effect: 'irreversible', timeLimitMs: 600_000 }),
    run: async (_, { signal }) => ({ content: await at(signal) }),
  }
  const [log, blobs] = [new MemoryLog(), new MemoryBlobs()]
  const script = (_: unknown, nth: number) => (nth === 1 ? calls(call('fx__act')) : completes())
  const process = (holder: string, over: Partial<LeaseOptions> = {}) => {
    const { ports } = harness(script, {
      tools: [tool],
      log,
      blobs,
      seed: holder,
      ports: { clock, random: seededRandom(holder) },
    })
    return new LeasedRuntime(ports, { leases, clock, ttlMs: TTL_MS, holder, closed: closed.signal, ...over })
  }
  const start = async (runtime: LeasedRuntime) => {
    const runId = runtime.newRunId()
    await runtime.execute(runId, { kind: 'start', spec: testSpec({}, [tool]), task: 'act' }, { by: USER })
    return runId
  }
  return { process, start, leases, log }
}

test('what one drives another one waits for, or refuses; it does not drive it too', async () => {
  const held = Promise.withResolvers<string>()
  const begun = Promise.withResolvers<void>()
  const { process, start, log } = deployment(() => {
    begun.resolve()
    return held.promise
  })
  const [a, b] = [process('a'), process('b')]
  const runId = await start(a)
  const first = a.drive(runId, { signal: LONG })
  await begun.promise
  await expect(b.drive(runId, { signal: LONG, waits: false })).rejects.toMatchObject({ code: 'RUN_DRIVEN' })
  const second = b.drive(runId, { signal: LONG })
  held.resolve('acted')
  expect(await first).toEqual({ end: 'done' })
  expect(await second).toEqual({ end: 'done' })
  const types: string[] = []
  for await (const page of log.read(`agent-${runId}`)) types.push(...page.map(({ header }) => header.type))
  expect(types.filter((type) => type === 'driver_claimed')).toHaveLength(1)
})

test('who waits can be called off', async () => {
  const begun = Promise.withResolvers<void>()
  const { process, start } = deployment(async (signal) => {
    begun.resolve()
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    throw new ToolError('EXECUTION_FAILED', 'called off')
  })
  const [a, b] = [process('a'), process('b')]
  const runId = await start(a)
  const stop = new AbortController()
  const first = a.drive(runId, { signal: stop.signal })
  await begun.promise
  const over = new AbortController()
  const second = b.drive(runId, { signal: LONG, drain: over.signal })
  over.abort(new Error('ending'))
  expect(await second).toEqual({ end: 'interrupted' })
  stop.abort(new Error('ending'))
  await first
})

test('what another process records is heard while a long call is at work', async () => {
  const begun = Promise.withResolvers<void>()
  const { process, start } = deployment(async (signal) => {
    begun.resolve()
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    throw new ToolError('EXECUTION_FAILED', 'called off')
  })
  const [a, b] = [process('a'), process('b')]
  const runId = await start(a)
  const driven = a.drive(runId, { signal: LONG })
  await begun.promise
  await b.execute(runId, { kind: 'cancel', deadlineMs: 30_000 }, { by: USER })
  expect(await driven).toMatchObject({ end: 'error', code: 'CANCELLED' })
})

test('it is heard also where the log does not answer at that moment', async () => {
  const begun = Promise.withResolvers<void>()
  const { process, start, log } = deployment(async (signal) => {
    begun.resolve()
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    throw new ToolError('EXECUTION_FAILED', 'called off')
  })
  const [a, b] = [process('a'), process('b')]
  const runId = await start(a)
  const driven = a.drive(runId, { signal: LONG })
  await begun.promise
  const { append, read } = log
  let silent = 0
  log.append = (...asked) => {
    log.append = append
    silent = 2
    return append.apply(log, asked)
  }
  log.read = (...asked) => {
    if (silent === 0) return read.apply(log, asked)
    silent--
    const next = () => Promise.reject(new LogError('LOG_UNAVAILABLE', 'no answer'))
    return { [Symbol.asyncIterator]: () => ({ next }) }
  }
  await b.execute(runId, { kind: 'cancel', deadlineMs: 30_000 }, { by: USER })
  expect(await driven).toMatchObject({ end: 'error', code: 'CANCELLED' })
  expect(silent).toBe(0)
})

test('who loses the lease ends what it has begun, begins nothing, and leaves the rest to the other one', async () => {
  const held = Promise.withResolvers<string>()
  const begun = Promise.withResolvers<void>()
  const { process, start, leases, log } = deployment(() => {
    begun.resolve()
    return held.promise
  })
  let asked = 0
  // Taken once, and not renewed when the tool is at work, as where PostgreSQL has forgotten it.
  const losing: Leases = {
    async acquire(name, holder, ttlMs) {
      if (asked === 0 && (await leases.acquire(name, holder, ttlMs))) return ++asked > 0
      await begun.promise
      asked++
      return false
    },
    release: (name, holder) => leases.release(name, holder),
  }
  const a = process('a', { leases: losing, ttlMs: 300, clock: standing() })
  const runId = await start(a)
  const first = a.drive(runId, { signal: LONG, waits: false })
  await begun.promise
  await expect.poll(() => asked).toBeGreaterThan(1)
  held.resolve('acted')
  expect(await first).toEqual({ end: 'interrupted' })
  expect(await process('b').drive(runId, { signal: LONG })).toEqual({ end: 'done' })
  const types: string[] = []
  for await (const page of log.read(`agent-${runId}`)) types.push(...page.map(({ header }) => header.type))
  expect(types.filter((type) => type === 'driver_claimed')).toHaveLength(2)
  expect(types).not.toContain('tool_call_unknown')
})

test('a log that could not be reached for a moment keeps no process from driving later', async () => {
  const { process, start, log } = deployment(async () => 'acted')
  const a = process('a')
  const runId = await start(a)
  const headCursor = log.headCursor.bind(log)
  log.headCursor = () => Promise.reject(new LogError('LOG_UNAVAILABLE', 'no answer'))
  await expect(a.drive(runId, { signal: LONG })).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' })
  log.headCursor = headCursor
  expect(await a.drive(runId, { signal: LONG })).toEqual({ end: 'done' })
})
