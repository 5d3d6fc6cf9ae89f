import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { MemoryLog } from '../../../adapters/memory/log.ts'
import { SqlitePositions } from '../../../adapters/sqlite/positions.ts'
import { ConfigSchema } from '../../../api/process/config/settings.ts'
import { systemRandom } from '../../../api/process/host/random.ts'
import { type PreparingHost, prepareServices } from '../../../api/process/host/start-services.ts'
import { CONSUMER, TelemetryExport } from '../../../api/process/telemetry/telemetry-export.ts'
import type { Span } from '../../../domain/calls/telemetry.ts'
import { LogError } from '../../../domain/log/errors.ts'
import { tempFolder } from '../../support/folders.ts'
import { newestOf, recorded } from '../../support/golden/files.ts'
import { appendAgain } from '../../support/golden/recording.ts'
import { MemoryBlobs } from '../../support/harness.ts'
import { BEFORE, NEW, Sealer } from '../../support/log/sealing.ts'
import { collector, spansOf } from '../../support/telemetry/collector.ts'
import { spansIn } from '../../support/telemetry/spans.ts'
import { hasty } from '../../support/webhooks/world.ts'

const textOf = (name: string) => newestOf(recorded(), name)!.text
/** A tree with children, of the run `root`. */
const TREE = textOf('trees')
const eventually = (check: () => unknown) => vi.waitFor(check, { timeout: 20_000, interval: 10 })

interface Options {
  readonly url: string
  readonly settings?: object
  readonly vault?: (name: string) => Promise<string | null>
  readonly waits?: number[]
  readonly log?: MemoryLog
}

/** Sending over a log in memory. `start` is a process that ends with the returned function. */
function world({ url, settings = {}, vault = async () => null, waits = [], ...more }: Options) {
  const folder = tempFolder()
  const log = more.log ?? new MemoryLog({ clock: BEFORE })
  const blobs = new MemoryBlobs()
  const positions = new SqlitePositions(join(folder, 'positions.db'))
  const warnings: string[] = []
  const config = ConfigSchema.parse({ data: folder, telemetry: { url, ...settings } })
  const start = async () => {
    const end = new AbortController()
    const sending = new TelemetryExport({
      ...{ settings: config.telemetry, log, blobs, positions, clock: hasty(500, waits), random: systemRandom },
      vault: { get: vault },
      warn: (text) => void warnings.push(text),
    })
    sending.start(end.signal)
    const stop = async () => {
      end.abort(new Error('the test ends'))
      await sending.ended()
    }
    onTestFinished(stop)
    await eventually(async () =>
      expect(await positions.read(`consumer:${CONSUMER}`)).toMatchObject({
        epoch: expect.any(Number),
        note: expect.any(String),
      }),
    )
    return { sending, stop }
  }
  /** Waits until everything is sent. One wait of `settle` is short by the clock of the tests. */
  const handled = async (sending: TelemetryExport) => {
    const head = (await log.headCursor())?.position ?? -1
    await eventually(async () => {
      await sending.settle()
      expect((await positions.read(`consumer:${CONSUMER}`))?.cursor?.position ?? -1).toBe(head)
    })
  }
  return { handled, log, blobs, positions, warnings, start, append: (text: string) => appendAgain(text, log, blobs) }
}

test('each run that ends is sent once with all its agents, in the order of the ends', async () => {
  const { url, got, spans } = await collector()
  const it = world({ url })
  const { sending, stop } = await it.start()
  await it.append(TREE)
  const expected = await spansIn(it, 'root')
  await it.handled(sending)
  expect(spans().map(({ spanId }) => spanId)).toEqual(expected.map(({ spanId }) => spanId))
  expect(expected.filter(({ name }) => name.startsWith('invoke_agent')).length).toBeGreaterThan(1)
  expect(await sending.state()).toMatchObject({ target: url, failure: null, sentAt: expect.any(String) })
  await stop()
  const before = got.length
  const next = await it.start()
  await it.handled(next.sending)
  expect(got.length).toBe(before)
})

test('a collector that cannot be reached delays no run, and gets every run once it answers', async () => {
  const { url, got, answer, spans } = await collector((response) => void response.writeHead(503).end())
  const it = world({ url })
  const first = await it.start()
  await it.append(TREE)
  await eventually(() => expect(got.length).toBeGreaterThan(3))
  expect(await first.sending.state()).toMatchObject({ failure: { message: 'it answers 503' }, sentAt: null })
  const began = Date.now()
  await first.sending.settle()
  expect(Date.now() - began).toBeLessThan(2_000)
  await first.stop()
  got.length = 0
  answer.with = (response) => void response.writeHead(200).end('{}')
  const second = await it.start()
  await eventually(async () => expect((await second.sending.state())?.failure).toBeNull())
  await eventually(async () =>
    expect(new Set(spans().map((one) => one.spanId)).size).toBe((await spansIn(it, 'root')).length),
  )
})

test('a process that dies before its ack repeats the run with the same ids', async () => {
  const { url, got, spans } = await collector()
  const it = world({ url })
  const first = await it.start()
  const position = (await it.positions.read(`consumer:${CONSUMER}`))!
  await it.append(TREE)
  await it.handled(first.sending)
  await first.stop()
  const ids = spans().map(({ spanId }) => spanId)
  got.length = 0
  const held = await it.positions.claim(`consumer:${CONSUMER}`)
  await it.positions.write(`consumer:${CONSUMER}`, { ...held, cursor: position.cursor })
  const second = await it.start()
  await it.handled(second.sending)
  await eventually(() => expect(spans().map(({ spanId }) => spanId)).toEqual(ids))
})

test('a refused run is left out after three attempts, and the next one is sent', async () => {
  let refuses = true
  const { url, got, spans } = await collector((response) => void response.writeHead(refuses ? 400 : 200).end())
  const it = world({ url })
  await it.start()
  await it.append(TREE)
  await eventually(() => expect(it.warnings).toEqual([expect.stringMatching(/refuses those of root: it answers 400/)]))
  expect(got).toHaveLength(3)
  refuses = false
  got.length = 0
  await it.append(textOf('approvals'))
  await eventually(() => expect(spans().some(({ name }) => name === 'execute_tool put')).toBe(true))
})

/** A collector with these statuses as the answers to its first requests, and 200 after them. */
const answering = (...statuses: number[]) =>
  collector((response) => void response.writeHead(statuses.shift() ?? 200).end('{}'))

test('attempts that the collector could not answer do not count as refusals', async () => {
  const { url, got } = await answering(503, 503, 400)
  const it = world({ url })
  const { sending } = await it.start()
  await it.append(TREE)
  await eventually(async () => expect((await sending.state())?.sentAt).not.toBeNull())
  expect([got.length, it.warnings]).toEqual([4, []])
})

test('a request that is taken in part is not sent again', async () => {
  const part = { partialSuccess: { rejectedSpans: '1', errorMessage: 'too old' } }
  const { url, got } = await collector((response) => void response.writeHead(200).end(JSON.stringify(part)))
  const it = world({ url })
  const { sending } = await it.start()
  await it.append(TREE)
  await it.handled(sending)
  expect([got.length, it.warnings]).toEqual([1, [expect.stringContaining('it rejects 1 spans: too old')]])
  expect(await sending.state()).toMatchObject({ failure: null, sentAt: expect.any(String) })
})

test('a wait within a run repeats only the spans that are not taken', async () => {
  const { url, got, answer, spans } = await collector()
  answer.with = (response) => void response.writeHead(got.length === 2 ? 503 : 200).end('{}')
  const it = world({ url })
  const { sending } = await it.start()
  const call = (id: string) => [
    { kind: 'ToolCall', message: 'look', data: { id } },
    { kind: 'ToolResult', data: { id, success: true } },
  ]
  const batches = Array.from({ length: 6 }, (_, batch) => ({
    type: 'agent_events',
    body: { first: batch * 200, events: Array.from({ length: 100 }, (_, at) => call(`${batch}/${at}`)).flat() },
  }))
  const drafts = [
    { type: 'external_started', body: { backend: 'acp', request: { prompt: 'look' }, capabilities: [] } },
    ...batches,
    { type: 'external_ended', body: { outcome: 'unknown', reason: 'lost' } },
  ]
  await it.log.append('external-long', -1, new Sealer().batch('external-long', NEW, drafts))
  await it.handled(sending)
  const ids = spans().map(({ spanId }) => spanId)
  expect([got.length, new Set(ids).size]).toEqual([3, 601])
  expect(got[2]!.body).toBe(got[1]!.body)
})

test('a run that a person cancelled before its start is sent, and a reported run is not', async () => {
  const { url, spans } = await collector()
  const it = world({ url })
  const { sending } = await it.start()
  const drafts = [
    { type: 'external_started', body: { backend: 'acp', request: { prompt: 'look' }, capabilities: [] } },
    {
      type: 'external_ended',
      body: { outcome: 'cancelled', exit: null },
      header: { actor: { kind: 'user' as const, id: 'ann' } },
    },
  ]
  await it.append(textOf('reported'))
  await it.log.append('external-unstarted', -1, new Sealer().batch('external-unstarted', NEW, drafts))
  await it.handled(sending)
  expect(spans().map(({ name }) => name)).toEqual(['invoke_agent acp'])
})

test('a body that is erased while the collector is away is not sent', async () => {
  const erased = Promise.withResolvers<void>()
  const { url, got, answer } = await collector(
    (response) => void erased.promise.then(() => response.writeHead(503).end()),
  )
  const it = world({ url, settings: { content: true } })
  const { sending } = await it.start()
  const appends = textOf('erased').trim().split('\n')
  const ofRun = appends.filter((line) => line.includes('"stream":"agent-06dwwsp4028p73w8b5n8h60"'))
  const [before, after] = [false, true].map((late) => ofRun.filter((line) => JSON.parse(line).append > 10 === late))
  await it.append(before!.join('\n'))
  await eventually(() => expect(got[0]?.body).toContain('Find the name.'))
  answer.with = (response) => void response.writeHead(200).end('{}')
  await it.append(after!.join('\n'))
  erased.resolve()
  await it.handled(sending)
  expect(got.map(({ body }) => body.includes('Find the name.'))).toEqual([true, false])
})

/** A log that throws at the first reads of a stream. */
class FailingLog extends MemoryLog {
  readonly #error: LogError
  left: number
  constructor(error: LogError, left: number) {
    super({ clock: BEFORE })
    this.#error = error
    this.left = left
  }
  override read(...args: Parameters<MemoryLog['read']>) {
    if (args[0] === 'agent-root' && args[1]?.limit === undefined && this.left-- > 0) throw this.#error
    return super.read(...args)
  }
}

test('a run that cannot be read now is sent later', async () => {
  const { url, spans } = await collector()
  const log = new FailingLog(new LogError('LOG_UNAVAILABLE', 'the store does not answer'), 2)
  const it = world({ url, log })
  const { sending } = await it.start()
  await it.append(TREE)
  await it.handled(sending)
  expect(log.left).toBeLessThan(0)
  expect(it.warnings).toHaveLength(2)
  expect(spans().map(({ spanId }) => spanId)).toEqual((await spansIn(it, 'root')).map(({ spanId }) => spanId))
})

test('a run that is damaged after its start gives the span of its start, and the next one is sent', async () => {
  const { url, spans } = await collector()
  const it = world({ url, log: new FailingLog(new LogError('LOG_CORRUPT', 'a body was altered'), 1e9) })
  const { sending } = await it.start()
  await it.append(TREE)
  await it.handled(sending)
  expect(it.warnings).toEqual([
    'the spans of agent-root of the run root: a body was altered; the later ones are left out',
  ])
  expect(spans().map(({ name }) => name)).toEqual(['invoke_agent keepup'])
  await it.append(textOf('approvals'))
  await eventually(() => expect(spans().some(({ name }) => name === 'execute_tool put')).toBe(true))
})

test('a damaged agent gives its spans before the damage and is named once, and the other agents give all of theirs', async () => {
  const damaged = 'agent-3w42wtkc8psw8e8cf07ayj0v'
  class DamagedLog extends MemoryLog {
    override async *read(...args: Parameters<MemoryLog['read']>) {
      for await (const page of super.read(...args)) {
        const sound = page.filter(({ header }) => header.stream !== damaged || header.revision < 12)
        yield sound
        if (sound.length < page.length) throw new LogError('LOG_CORRUPT', 'a body was altered')
      }
    }
  }
  const { url, got, answer } = await collector()
  answer.with = (response) => void response.writeHead(got.length <= 2 ? 503 : 200).end('{}')
  const it = world({ url, log: new DamagedLog({ clock: BEFORE }) })
  const whole = world({ url: 'http://127.0.0.1:9' })
  const { sending } = await it.start()
  for (const { append } of [it, whole]) await append(TREE)
  await it.handled(sending)
  const streamOf = (span: Span) => span.attributes['keepup.stream']
  const ofOthers = (await spansIn(whole, 'root')).filter((span) => streamOf(span) !== damaged)
  const found = await spansIn(it, 'root')
  expect(found.filter((span) => streamOf(span) !== damaged).map(({ name, spanId }) => [name, spanId])).toEqual(
    ofOthers.map(({ name, spanId }) => [name, spanId]),
  )
  expect(found.some((span) => streamOf(span) === damaged)).toBe(true)
  expect(found.at(-1)!.attributes).toMatchObject({
    'keepup.incomplete_streams': [`${damaged}: LOG_CORRUPT`],
  })
  expect(got).toHaveLength(3)
  expect(spansOf(got[2]!.body).map(({ spanId }) => spanId)).toEqual(found.map(({ spanId }) => spanId))
  // Once for all attempts.
  expect(it.warnings).toEqual([
    `the spans of ${damaged} of the run root: a body was altered; the later ones are left out`,
  ])
})

test('a run is sent again when a child ends after its root', async () => {
  const { url, got } = await collector()
  const it = world({ url })
  const { sending } = await it.start()
  const lines = TREE.trim().split('\n')
  const isLate = (line: string) =>
    line.includes('"stream":"agent-3w42wtkc8psw8e8cf07ayj0v"') && JSON.parse(line).append >= 49
  await it.append(lines.filter((line) => !isLate(line)).join('\n'))
  await it.handled(sending)
  expect(got).toHaveLength(1)
  expect(got[0]!.body).toContain('keepup.open')
  await it.append(lines.filter(isLate).join('\n'))
  await it.handled(sending)
  expect(got).toHaveLength(2)
  expect(spansOf(got[1]!.body).map(({ spanId }) => spanId)).toEqual(
    (await spansIn(it, 'root')).map(({ spanId }) => spanId),
  )
  expect(got[1]!.body).not.toContain('keepup.open')
})

test('the wait that a collector asks for is kept', async () => {
  let asks = true
  const { url, answer } = await collector((response) => void response.writeHead(429, { 'retry-after': '77' }).end())
  const waits: number[] = []
  const it = world({ url, waits })
  answer.with = (response) => {
    if (asks) response.writeHead(429, { 'retry-after': '77' }).end()
    else response.writeHead(200).end()
    asks = false
  }
  const { sending } = await it.start()
  await it.append(TREE)
  await eventually(async () => expect((await sending.state())?.sentAt).not.toBeNull())
  expect(waits).toContain(77_000)
})

test('headers are secrets of the vault, and a missing one is named', async () => {
  const { url, got } = await collector()
  let known: string | null = null
  const it = world({ url, settings: { headers: { authorization: 'AUTH' } }, vault: async () => known })
  const { sending } = await it.start()
  await it.append(TREE)
  await eventually(async () =>
    expect((await sending.state())?.failure?.message).toBe('there is no secret AUTH; keepup secrets set AUTH'),
  )
  expect(got).toEqual([])
  known = 'Bearer abc'
  await eventually(() => expect(got[0]?.headers.authorization).toBe('Bearer abc'))
})

test('no run can have the secret that opens the collector', async () => {
  const telemetry = { url: 'https://collector.example.org', headers: { authorization: 'AUTH' } }
  const host = { config: ConfigSchema.parse({ data: tempFolder(), telemetry }), vault: { get: async () => 'a secret' } }
  const refused = prepareServices(host as unknown as PreparingHost).secret('AUTH')
  await expect(refused).rejects.toMatchObject({ code: 'SECRET_INVALID' })
})

test('spans go over https, or over http to this machine', () => {
  const valid = (url: string) => ConfigSchema.safeParse({ data: '/d', telemetry: { url } }).success
  expect(['https://a.example', 'http://127.0.0.1:4318', 'http://localhost:4318/v1/traces'].map(valid)).toEqual([
    true,
    true,
    true,
  ])
  expect(['http://10.0.0.1', 'http://collector:4318', 'https://u:p@a.example', 'file:///x'].map(valid)).toEqual([
    false,
    false,
    false,
    false,
  ])
})
