import { createServer } from 'node:http'
import { expect, onTestFinished, test, vi } from 'vitest'
import { MemoryLog } from '../../../adapters/memory/log.ts'
import { isWebhookUrl } from '../../../adapters/web/webhook.ts'
import { ConfigSchema } from '../../../api/process/config/settings.ts'
import { type PreparingHost, prepareServices } from '../../../api/process/host/start-services.ts'
import { positionName } from '../../../api/process/webhooks/delivery.ts'
import { pageUrl } from '../../../api/process/webhooks/webhooks.ts'
import { tempFolder } from '../../support/folders.ts'
import { orderOf, receiver } from '../../support/webhooks/receiver.ts'
import { deliveries, hasty, writer } from '../../support/webhooks/world.ts'

type Options = Parameters<typeof deliveries>[0]

/** A started world over a receiver. */
async function world(more: Partial<Options> = {}, respond?: Parameters<typeof receiver>[0]) {
  const got = await receiver(respond)
  const made = deliveries({ url: got.url, folder: tempFolder(), ...more })
  onTestFinished(() => made.stop())
  return { ...got, ...made }
}

const state = async ({ webhooks }: Pick<ReturnType<typeof deliveries>, 'webhooks'>) => (await webhooks.list())[0]!
const eventually = (check: () => unknown) => vi.waitFor(check, { timeout: 30_000, interval: 10 })
const began = (one: Parameters<typeof state>[0]) =>
  eventually(async () => expect((await state(one)).behind).not.toBeNull())

test('a new webhook begins at the head of the log, and each notice is signed and short', async () => {
  const it = await world({ settings: {} })
  await it.write('r1', 3)
  it.start()
  await began(it)
  const [id] = await it.write('r1')
  await eventually(() => expect(it.got).toHaveLength(1))
  expect(it.got[0]!.notice).toEqual({
    ...{ id, type: 'approval_asked', at: expect.stringMatching(/^2026-01-01T/), run: 'r1', agent: 'r1' },
    ...{ title: 'send_mail waits for an approval', text: 'Task of r1', link: 'http://127.0.0.1:7433/runs/r1' },
  })
  expect(it.faults).toEqual([])
  await eventually(async () => expect(await state(it)).toMatchObject({ behind: 0, failure: null, stopped: null }))
  expect((await state(it)).target).toBe(new URL(it.url).origin)
})

test('a parked stream is told once, without its fault; again after a release, and by the next process', async () => {
  const row = { stream: 'agent-r1', runId: 'r1', revision: 3, code: 'SHAPE', error: 'a text of the log' }
  let parked = [row, { ...row, stream: 'document-d1', runId: 'd1' }]
  let looks = 0
  const look = async () => {
    looks += 1
    return parked
  }
  const it = await world({ parked: look })
  const looksMore = async () => {
    const before = looks
    await eventually(() => expect(looks).toBeGreaterThan(before + 2))
  }
  it.start()
  await eventually(() => expect(it.got).toHaveLength(2))
  await looksMore()
  const told = it.got.map(({ notice }) => notice).sort((a, b) => (a.title < b.title ? -1 : 1))
  expect(told).toMatchObject([
    { ...{ type: 'stream_parked', run: 'r1', agent: 'r1', text: '', link: 'http://127.0.0.1:7433/runs/r1' } },
    { ...{ type: 'stream_parked', run: null, agent: null, text: '', link: 'http://127.0.0.1:7433' } },
  ])
  expect(told[0]!.title).toBe('The tables cannot read agent-r1 from event 3 on (SHAPE)')
  expect(JSON.stringify(told)).not.toContain('a text of the log')
  parked = []
  await looksMore()
  parked = [row]
  await eventually(() => expect(it.got.map(({ id }) => id).slice(2)).toEqual([told[0]!.id]))
  await it.stop()
  const next = deliveries({ ...it, parked: look, folder: tempFolder() })
  onTestFinished(() => next.stop())
  next.start()
  await eventually(() => expect(it.got.map(({ id }) => id).slice(3)).toEqual([told[0]!.id]))
})

test('a key of 15 bytes signs nothing, one of 16 does', async () => {
  const short = await world({ secret: 'x'.repeat(15) })
  expect(await short.webhooks.test('hook')).toEqual({ status: null, fault: expect.stringContaining('at least 16') })
  const decoded = await world({ secret: `whsec_${Buffer.alloc(15).toString('base64')}` })
  expect(await decoded.webhooks.test('hook')).toMatchObject({ status: null })
  const enough = await world({ secret: 'x'.repeat(16) }, (_, response) => void response.writeHead(200).end())
  expect((await enough.webhooks.test('hook'))?.fault ?? '').not.toContain('at least 16')
})

test('a webhook gets only the types that it names', async () => {
  const it = await world({ settings: { types: ['run_ended'] } })
  it.start()
  await began(it)
  const end = { error: 'x', code: 'MODEL_FAILED', recoverable: false }
  await it.write('r1', 2, [{ type: 'error', body: end }])
  await eventually(() => expect(it.got.map(({ notice }) => notice.title)).toEqual(['The run ended with MODEL_FAILED']))
})

test('no run can have the secret that signs the notices', async () => {
  const settings = { data: tempFolder(), webhooks: [{ name: 'hook', url: 'https://hook.example.org', secret: 'HOOK' }] }
  const host = { config: ConfigSchema.parse(settings), vault: { get: async () => 'a secret of the vault' } }
  const refused = prepareServices(host as unknown as PreparingHost).secret('HOOK')
  await expect(refused).rejects.toMatchObject({ code: 'SECRET_INVALID' })
})

test('a failing notice of one run holds up no other run, and keeps the order of its own', async () => {
  const waits: number[] = []
  let down = true
  const it = await world(
    { clock: hasty(500, waits) },
    ({ notice }, response) => void response.writeHead(notice.run === 'bad' && down ? 503 : 200).end(),
  )
  it.start()
  await began(it)
  const bad = await it.write('bad', 3)
  const good = await it.write('good', 30)
  await eventually(() => expect(orderOf(it.got, 'good')).toEqual(good))
  expect(orderOf(it.got, 'bad')).toEqual([bad[0]])
  await eventually(async () => expect(await state(it)).toMatchObject({ behind: expect.any(Number) }))
  await eventually(() => expect(it.got.filter(({ id }) => id === bad[0]).length).toBeGreaterThan(3))
  down = false
  await eventually(() => expect(orderOf(it.got, 'bad')).toEqual(bad))
  // 30 s is the time between two looks for parked streams.
  const backoff = waits.filter((ms) => ms >= 3_000 && ms !== 30_000)
  for (const [n, ms] of backoff.slice(0, 4).entries()) {
    expect(ms).toBeGreaterThan(0.74 * 5_000 * 2 ** n)
    expect(ms).toBeLessThanOrEqual(5_000 * 2 ** n)
  }
})

test('a receiver that refuses a notice three times does not get it again; 429 is no refusal', async () => {
  const seen = new Map<string, number>()
  const it = await world({}, ({ id, notice }, response) => {
    seen.set(id, (seen.get(id) ?? 0) + 1)
    const isBusy = notice.run === 'busy' && seen.get(id)! < 6
    response.writeHead(notice.run === 'no' ? 422 : isBusy ? 429 : 204).end()
  })
  it.start()
  await began(it)
  const no = await it.write('no', 2)
  const busy = await it.write('busy', 2)
  await eventually(() => expect(orderOf(it.got, 'busy')).toEqual(busy))
  await eventually(() => expect(no.map((id) => seen.get(id))).toEqual([3, 3]))
  expect(seen.get(busy[0]!)).toBe(6)
  await eventually(async () => expect((await state(it)).behind).toBe(0))
  expect(it.warnings.filter((text) => text.includes('it is left out'))).toHaveLength(2)
})

test('410 stops the webhook, also in the next process; a test that is taken starts it again', async () => {
  const it = await world({}, (_, response) => void response.writeHead(410).end())
  it.start()
  await began(it)
  const ids = await it.write('r1', 2)
  await eventually(async () => expect((await state(it)).stopped).toMatchObject({ message: 'it answers 410' }))
  expect(it.got).toHaveLength(1)
  const next = deliveries({ ...it, folder: tempFolder() })
  onTestFinished(() => next.stop())
  next.start()
  await next.webhooks.ended()
  expect(it.got).toHaveLength(1)
  it.answer.with = (_, response) => void response.writeHead(200).end()
  expect(await next.webhooks.test('hook')).toEqual({ status: 200, fault: null })
  await eventually(() => expect(orderOf(it.got, 'r1')).toEqual(ids))
  expect((await state(it)).stopped).toBeNull()
  expect(await next.webhooks.test('other')).toBeNull()
})

test('a receiver that is down holds the reading of the log, not its notices in memory', {
  timeout: 60_000,
}, async () => {
  const it = await world({ clock: hasty(1) }, (_, response) => void response.writeHead(503).end())
  for (let n = 0; n < 3_000; n += 1) await it.write(`r${n}`)
  await it.fromStart()
  let read = 0
  const subscribe = it.log.subscribe.bind(it.log)
  async function* counted(...[after, signal]: Parameters<typeof subscribe>) {
    for await (const page of subscribe(after, signal)) {
      read += page.length
      yield page
    }
  }
  it.log.subscribe = counted
  it.start()
  await eventually(() => expect(new Set(it.got.map(({ id }) => id)).size).toBe(1_000))
  // Each run has two events, and a page up to 256.
  expect(read).toBeLessThanOrEqual(2_000 + 512)
})

test('a redirect is a failure and is not followed', async () => {
  const paths: string[] = []
  const elsewhere = createServer((request, response) => {
    paths.push(request.url!)
    response.end()
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void elsewhere.close())
  const it = await world({}, (_, response) => {
    const { port } = elsewhere.address() as { port: number }
    response.writeHead(307, { location: `http://127.0.0.1:${port}/` }).end()
  })
  it.start()
  await began(it)
  await it.write('r1')
  await eventually(async () => expect((await state(it)).failure?.message).toContain('redirects are not followed'))
  expect(paths).toEqual([])
})

test('a receiver that hangs is given up after ten seconds and asked again', async () => {
  const { timeout } = AbortSignal
  // A second of the limit lasts 10 ms.
  const limits = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout.call(AbortSignal, ms / 100))
  onTestFinished(() => limits.mockRestore())
  let asked = 0
  const it = await world({}, (_, response) => void (++asked > 1 && response.writeHead(204).end()))
  it.start()
  await began(it)
  const [id] = await it.write('r1')
  await eventually(() => expect(it.got.map((one) => one.id)).toEqual([id, id]))
  expect(limits).toHaveBeenCalledWith(10_000)
})

test('an endless answer is not read to its end', async () => {
  const it = await world({}, (_, response) => {
    response.writeHead(200)
    const more = setInterval(() => response.write('x'.repeat(10_000)), 1)
    response.on('close', () => clearInterval(more))
  })
  it.start()
  await began(it)
  const ids = await it.write('r1', 3)
  await eventually(() => expect(orderOf(it.got, 'r1')).toEqual(ids))
})

test('a missing secret is told and sends nothing', async () => {
  const it = await world({ secret: null })
  it.start()
  await began(it)
  await it.write('r1')
  await eventually(async () => expect((await state(it)).failure?.message).toContain('keepup secrets set HOOK'))
  expect(it.got).toEqual([])
})

test('of two processes, the older one stops when a newer one has taken the position', async () => {
  const it = await world()
  it.start()
  await began(it)
  const newer = deliveries({ ...it, folder: tempFolder() })
  onTestFinished(() => newer.stop())
  newer.start()
  await eventually(async () => expect((await it.positions.read(positionName('hook')))?.epoch).toBe(2))
  const ids = await it.write('r1', 5)
  await it.webhooks.ended()
  expect(it.warnings.join()).toContain('delivered by a newer process')
  const later = await it.write('r1', 5)
  await eventually(() => expect(orderOf(it.got, 'r1')).toEqual([...ids, ...later]))
  expect(it.got.filter(({ id }) => later.includes(id))).toHaveLength(5)
})

test('a position of another log is told, and the webhook begins at the head', async () => {
  const it = await world()
  const other = new MemoryLog()
  await it.fromStart()
  await writer(other)('old', 4)
  const restored = deliveries({ ...it, folder: tempFolder(), log: other })
  onTestFinished(() => restored.stop())
  expect((await state(restored)).behind).toBeNull()
  restored.start()
  await eventually(() => expect(restored.warnings.join()).toContain('another log'))
  await eventually(async () => expect((await state(restored)).behind).toBe(0))
  const ids = await writer(other, 'new')('new', 2)
  await eventually(() => expect(it.got.map(({ id }) => id)).toEqual(ids))
})

test('texts of a notice are hidden before they are sent', async () => {
  const it = await world({ hide: async (text) => text.replaceAll('r1', 'hidden') })
  it.start()
  await began(it)
  await it.write('r1')
  await eventually(() => expect(it.got[0]?.notice.text).toBe('Task of hidden'))
})

test('20,000 events are delivered with bounded memory, in linear time', { timeout: 120_000 }, async () => {
  const it = await world({ settings: { types: ['approval_asked'] } })
  const took: number[] = []
  // Other test files of this process have their own share of the heap.
  const before = process.memoryUsage().heapUsed
  let heap = 0
  for (let n = 0; n < 100; n += 1) await it.write(`r${n}`, 1)
  await it.fromStart()
  it.start()
  for (const size of [5_000, 5_000, 10_000]) {
    const begun = performance.now()
    // One notice for each 50 events.
    const noise = Array.from({ length: 49 }, () => ({ type: 'turn_start', body: { unread: 0 } }))
    for (let n = 0; n < size / 50; n += 1) await it.write(`r${n % 100}`, 1, noise)
    await eventually(async () => expect((await state(it)).behind).toBe(0))
    took.push((performance.now() - begun) / size)
    heap = process.memoryUsage().heapUsed
  }
  expect(it.got.length).toBeGreaterThanOrEqual(500)
  expect(took[2]!).toBeLessThan(4 * took[0]! + 0.5)
  expect(heap - before).toBeLessThan(400 * 1024 * 1024)
})

test('notices go to https, or to this machine', () => {
  for (const url of ['https://a.example/x', 'http://127.0.0.1:9/x', 'http://localhost/', 'http://[::1]:8/'])
    expect(isWebhookUrl(url), url).toBe(true)
  for (const url of ['http://a.example/', 'http://127.0.0.1.evil.example/', 'https://u:p@a.example/', 'ftp://a', 'x'])
    expect(isWebhookUrl(url), url).toBe(false)
})

test('settings refuse unknown members, types and equal names; links begin with the address of the page', () => {
  const hook = { name: 'a', url: 'https://a.example/', secret: 'A' }
  const valid = (webhooks: unknown) => ConfigSchema.safeParse({ data: '/d', webhooks }).success
  expect(valid([hook])).toBe(true)
  for (const more of [{ key: 1 }, { types: ['other'] }, { types: [] }, { secret: '' }, { name: 'A b' }])
    expect(valid([{ ...hook, ...more }])).toBe(false)
  expect(valid([hook, hook])).toBe(false)
  const page = (given: object) => pageUrl(ConfigSchema.parse({ data: '/d', ...given }))
  expect(page({ host: '0.0.0.0', port: 80 })).toBe('http://127.0.0.1:80')
  expect(page({ publicUrl: 'https://k.example/base/' })).toBe('https://k.example/base')
})
