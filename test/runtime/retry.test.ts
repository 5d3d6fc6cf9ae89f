import { expect, test } from 'vitest'
import { MemoryLog } from '../../adapters/memory/log.ts'
import type { SealedEvent } from '../../domain/log/envelope.ts'
import { LogError } from '../../domain/log/errors.ts'
import type { EventLog } from '../../domain/ports/index.ts'
import { call, calls, completes, MemoryBlobs, type TestPorts, USER } from '../support/harness.ts'
import { faulty } from '../support/log/faulty.ts'
import { NEVER } from '../support/process.ts'
import { given, tool } from '../support/story.ts'

// The retry policy of everything that a driver records. The clock's time is no time here.

type Append = EventLog['append']
type Fate = 'full' | 'refuses' | 'hangs' | 'loses the answer'

const MINUTE = 60_000

const isOf =
  (...types: string[]) =>
  ([first]: readonly SealedEvent[]) =>
    first !== undefined && types.includes(first.header.type)
const isOutcome = isOf('model_call_end', 'tool_call_end')

/** A log that appends with `troubles` in this order, where the batch is one that `meets` them; then it works. */
class TroubledLog extends MemoryLog {
  troubles: Fate[] = []
  meets: (batch: readonly SealedEvent[]) => boolean = isOutcome
  readonly attempts: { readonly at: number; readonly hash: string }[] = []
  now: () => number = () => 0
  override async append(...given: Parameters<Append>): ReturnType<Append> {
    const [stream, expected, batch] = given
    const fate = this.meets(batch) ? this.troubles.shift() : undefined
    if (fate === undefined) return super.append(stream, expected, batch)
    this.attempts.push({ at: this.now(), hash: batch[0]!.hash })
    if (fate === 'full') throw new LogError('LOG_FULL', 'no room; make room on the disk and try again')
    if (fate === 'hangs') return NEVER
    if (fate === 'loses the answer') await super.append(stream, expected, batch)
    throw new LogError('LOG_UNAVAILABLE', 'no quorum')
  }
}

/** So many troubles of one kind. */
const forever = (fate: Fate): Fate[] => Array<Fate>(10_000).fill(fate)

async function troubled(
  troubles: Fate[],
  { meets = isOutcome, ...ports }: TestPorts & Pick<Partial<TroubledLog>, 'meets'> = {},
) {
  const log = new TroubledLog()
  const warned: { at: number; text: string }[] = []
  const send = tool('send', { effect: 'irreversible' })
  const sends = calls(call('send'))
  const run = await given({
    says: [sends, sends, completes()],
    tools: [send],
    ports: { log, warn: (_, text) => warned.push({ at: run.clock.now() - began(), text }), ...ports },
  })
  const { clock } = run
  log.now = () => clock.now()
  Object.assign(log, { troubles, meets })
  /** When the first attempt began that met trouble. */
  const began = () => log.attempts[0]?.at ?? clock.now()
  return {
    ...{ ...run, log, send, warned },
    /** How the drive failed, and how long after the trouble began (ms). */
    async fails(signal?: AbortSignal) {
      const error = await run.drive(signal).then(
        ({ end }) => ({ code: `no error but ${end}` }),
        (failed: { code: string }) => failed,
      )
      return { code: error.code, after: clock.now() - began() }
    },
    seals: () => new Set(log.attempts.map(({ hash }) => hash)).size,
    waits: () => log.attempts.slice(1).map(({ at }, n) => at - log.attempts[n]!.at),
  }
}

test('an outcome waits for room on the disk, is decided anew each time, and nothing is done a second time', async () => {
  const run = await troubled(Array<Fate>(6).fill('full'))
  expect(await run.drive()).toEqual({ end: 'done' })
  expect([run.log.attempts.length, run.seals()]).toEqual([6, 6])
  expect(run.waits()).toEqual([100, 200, 400, 800, 1_600])
  expect([run.requests.length, run.send.ran.length]).toEqual([3, 2])
})

test.each(['refuses', 'hangs', 'loses the answer'] as const)(
  'while it is not known what became of an append the same sealed bytes are sent again: a log that %s',
  async (fate) => {
    const run = await troubled(Array<Fate>(5).fill(fate))
    expect(await run.drive()).toEqual({ end: 'done' })
    expect([run.log.attempts.length, run.seals()]).toEqual([5, 1])
    expect([run.requests.length, run.send.ran.length]).toEqual([3, 2])
    expect((await run.runtime.verify(run.runId)).problems).toEqual([])
  },
)

test('a full disk after an append of unknown outcome does not make the outcome known', async () => {
  const run = await troubled(['refuses', 'full', 'full'])
  expect(await run.drive()).toEqual({ end: 'done' })
  expect([run.log.attempts.length, run.seals()]).toEqual([3, 1])
  const ended = await troubled(['refuses', ...forever('full')])
  expect(await ended.fails()).toMatchObject({ code: 'LOG_UNAVAILABLE' })
  expect(ended.seals()).toBe(1)
})

test.each([
  ['full', 'LOG_FULL'],
  ['refuses', 'LOG_UNAVAILABLE'],
  ['hangs', 'LOG_UNAVAILABLE'],
] as const)('the limit is the real limit, and the attempts are few: a log that for ever %s', async (fate, code) => {
  const run = await troubled(forever(fate))
  const { after, ...failed } = await run.fails()
  expect(failed).toEqual({ code })
  expect(after).toBeGreaterThanOrEqual(5 * MINUTE - 1_000)
  expect(after).toBeLessThanOrEqual(5 * MINUTE)
  expect(run.log.attempts.length).toBeLessThan(40)
  run.log.troubles = []
  expect(await run.drive()).toEqual({ end: 'done' })
  expect((await run.runtime.verify(run.runId)).problems).toEqual([])
})

test('twice the limit is about twice the attempts, and a limit of nothing is one attempt', async () => {
  const attempts: number[] = []
  for (const outcomeLimitMs of [0, 10 * MINUTE, 20 * MINUTE]) {
    const run = await troubled(forever('full'), { outcomeLimitMs })
    expect((await run.fails()).after).toBeLessThanOrEqual(outcomeLimitMs)
    attempts.push(run.log.attempts.length)
  }
  expect(attempts[0]).toBe(1)
  expect(attempts[2]! / attempts[1]!).toBeLessThan(2.1)
})

test.each(['full', 'refuses', 'hangs'] as const)(
  'the first warning comes within 5 s, later ones at growing intervals: a log that %s',
  async (fate) => {
    const run = await troubled(forever(fate))
    await run.fails()
    expect(run.warned.map(({ at }) => Math.round(at / 1_000))).toEqual([3, 9, 21, 45, 93, 153, 213, 273])
    expect(run.warned[0]!.text).toMatch(/^could not save the outcome; retrying for 4 min 57 s: /)
    expect(run.warned[1]!.text).toContain('retrying for 4 min 51 s')
    const why = { full: 'make room on the disk', refuses: 'no quorum', hangs: 'did not answer within 20 s' }[fate]
    expect(run.warned.at(-1)!.text).toContain(why)
  },
)

test('one line says that it is over, where a warning came before; a short trouble is not told', async () => {
  const long = await troubled(['hangs', 'hangs'])
  expect(await long.drive()).toEqual({ end: 'done' })
  expect(long.warned.map(({ text }) => text)).toEqual([
    'could not save the outcome; retrying for 4 min 57 s: there is no answer yet',
    'could not save the outcome; retrying for 4 min 51 s: there is no answer yet',
    expect.stringMatching(/^could not save the outcome; retrying for 4 min 39 s: the log did not answer within 20 s/),
    'saved the outcome after 40 s',
  ])
  const short = await troubled(['refuses', 'full', 'refuses'])
  expect(await short.drive()).toEqual({ end: 'done' })
  expect(short.warned).toEqual([])
})

test.each([
  ['the claim', 'driver_claimed', 'full'],
  ['the claim', 'driver_claimed', 'hangs'],
  ['the outcome', 'turn_start', 'full'],
] as const)('%s (%s) comes under the same policy: a log that is or does %s', async (what, type, fate) => {
  const run = await troubled(Array<Fate>(9).fill(fate), {
    meets: (batch) => batch.some(({ header }) => header.type === type),
  })
  expect(await run.drive()).toEqual({ end: 'done' })
  expect(run.log.attempts).toHaveLength(9)
  expect(run.warned[0]!.text).toContain(`could not save ${what}; retrying for 4 min 57 s`)
  expect(run.warned[0]!.at).toBeLessThanOrEqual(5_000)
})

test.each([
  ['full', 'LOG_FULL'],
  ['refuses', 'LOG_UNAVAILABLE'],
  ['hangs', 'LOG_UNAVAILABLE'],
] as const)('a drive that is stopped ends within seconds: a log that %s', async (fate, code) => {
  const stop = new AbortController()
  const run = await troubled(forever(fate))
  const failed = run.fails(stop.signal)
  while (run.warned.length < 2) await new Promise(setImmediate)
  const [before, attempts] = [run.clock.now(), run.log.attempts.length]
  stop.abort(new Error('stop'))
  expect((await failed).code).toBe(code)
  expect(run.clock.now() - before).toBeLessThanOrEqual(5_000)
  // One at once, and one shortly before the end.
  expect(run.log.attempts.length - attempts).toBeLessThanOrEqual(2)
})

test('between two attempts on a full disk people are told at once that there is no room', async () => {
  const run = await troubled(forever('full'), { meets: () => true })
  const failed = run.fails()
  while (run.warned.length === 0) await new Promise(setImmediate)
  const before = run.clock.now()
  await expect(run.say({ kind: 'pause' })).rejects.toMatchObject({ code: 'LOG_FULL' })
  expect(run.clock.now() - before).toBeLessThanOrEqual(10_000)
  expect((await failed).code).toBe('LOG_FULL')
})

test('a request has one short limit of its own, and says what the log says', async () => {
  const run = await troubled(forever('refuses'), { meets: () => true, requestLimitMs: 15_000 })
  const before = run.clock.now()
  await expect(run.say({ kind: 'input', text: 'hello' })).rejects.toMatchObject({
    code: 'LOG_UNAVAILABLE',
    message: 'no quorum',
  })
  expect(run.clock.now() - before).toBeLessThanOrEqual(15_000)
  expect([run.log.attempts.length <= 10, run.seals(), run.warned]).toEqual([true, 1, []])
  const full = await troubled(forever('full'), { meets: () => true })
  await expect(full.say({ kind: 'input', text: 'hello' })).rejects.toMatchObject({ code: 'LOG_FULL' })
  expect(full.log.attempts).toHaveLength(1)
})

test('each append is told how long it may ask again: never longer than what is left', async () => {
  const told: number[] = []
  const run = await given({ says: [completes()] })
  const log = faulty(run.log, {
    append: (_, __, ___, limitMs) => {
      told.push(limitMs!)
      return NEVER
    },
  })
  const runtime = run.elsewhere({ log, outcomeLimitMs: 50_000, requestLimitMs: 16_000 })
  const unavailable = { code: 'LOG_UNAVAILABLE' }
  await expect(runtime.execute(run.runId, { kind: 'pause' }, { by: USER })).rejects.toMatchObject(unavailable)
  expect(told.splice(0)).toEqual([12_000])
  await expect(runtime.drive(run.runId, { signal: new AbortController().signal })).rejects.toMatchObject(unavailable)
  // Three quarters of 20 s, of 20 s, and of what the first two and the delays of 0.1 and 0.2 s have left.
  expect(told).toEqual([15_000, 15_000, 7_275])
})

test('an outcome waits for blobs that cannot be stored just now', async () => {
  const stored = new MemoryBlobs()
  let failures = 3
  const blobs = faulty(stored, {
    put: async (...args) => {
      if (failures-- > 0) throw new LogError('LOG_UNAVAILABLE', 'EIO')
      return stored.put(...args)
    },
  })
  const send = tool('send', { effect: 'irreversible' }, () => 'x'.repeat(100_000))
  const run = await given({ says: [calls(call('send')), completes()], tools: [send], ports: { blobs } })
  expect(await run.drive()).toEqual({ end: 'done' })
  expect([failures, send.ran.length]).toEqual([-1, 1])
  expect(await run.ends()).toEqual(['send: ok', 'complete_task: ok'])
})

test('an outcome whose blobs hang is given up at the limit, and is not appended after it', async () => {
  const stored = new MemoryBlobs()
  let free = () => {}
  const hung = new Promise<void>((resolve) => {
    free = resolve
  })
  const blobs = faulty(stored, { put: (...args) => hung.then(() => stored.put(...args)) })
  const send = tool('send', { effect: 'irreversible' }, () => 'x'.repeat(100_000))
  const ports = { blobs, outcomeLimitMs: 30_000 }
  const run = await given({ says: [calls(call('send')), completes()], tools: [send], ports })
  const began = run.clock.now()
  await expect(run.drive()).rejects.toMatchObject({ code: 'TIME_LIMIT' })
  expect(run.clock.now() - began).toBeLessThanOrEqual(30_000)
  const before = await run.types()
  free()
  for (let i = 0; i < 50; i++) await new Promise(setImmediate)
  expect(await run.types()).toEqual(before)
})
