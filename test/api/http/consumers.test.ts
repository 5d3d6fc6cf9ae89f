import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { SseReader } from '../../../adapters/web/sse-reader.ts'
import { parseCursor } from '../../../domain/log/cursor.ts'
import { bodyOf, eventsIn, openWorld } from '../support/http.ts'

// Consumers over HTTP.

const world = await openWorld({ heartbeatMs: 200, maxBodyBytes: 20_000 })
const { ask, services } = world
let run = ''
beforeAll(async () => {
  run = await world.driven('finish the first run')
})
afterAll(() => world.close())

interface Line {
  readonly id?: string
  readonly type?: string
  readonly runId?: string
  readonly cursor?: string
  readonly payload?: object | null
  readonly erased?: true
  readonly epoch?: number
  readonly position?: string
}

const put = (name: string, body: object = {}) => ask('PUT', `/v1/consumers/${name}`, { body })
const ack = (name: string, body: object) => ask('POST', `/v1/consumers/${name}/ack`, { body })
const lagOf = async (name: string) =>
  (
    await bodyOf<{ consumers: { name: string; lag: number; lastAckAt: string | null }[] }>(
      await ask('GET', '/v1/consumers'),
    )
  ).consumers.find((one) => one.name === name)

async function batch(name: string, query = '') {
  const response = await ask('GET', `/v1/consumers/${name}/events?wait=0${query}`)
  if (!response.ok) throw new Error(await response.text())
  const lines = (await response.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
  const { epoch, position } = lines.pop()!
  expect(response.headers.get('keepup-epoch')).toBe(String(epoch))
  return { events: lines, epoch: epoch!, position: position! }
}

/** The events of an SSE stream, as they come. */
async function opened(name: string) {
  const response = await ask('GET', `/v1/consumers/${name}/events`)
  const reader = new SseReader()
  const got: { id: string; event: string; data: Line & { code?: string } }[] = []
  const body = response.body!.getReader()
  const done = (async () => {
    for (let next = await body.read(); !next.done; next = await body.read())
      for (const { id, name: event, data } of reader.push(next.value))
        got.push({ id: id ?? '', event, data: data ? JSON.parse(data) : {} })
  })()
  return { got, done, leave: () => body.cancel() }
}

test('batches go through the log in order; what was not acked comes again, and the rest never', async () => {
  expect((await put('all')).status).toBe(201)
  expect((await put('all')).status).toBe(200)
  const all = (await eventsIn(services)).map(({ id }) => id)
  const first = await batch('all', '&max=3')
  expect(first.events.map(({ id }) => id)).toEqual(all.slice(0, 3))
  const again = await batch('all', `&max=5&epoch=${first.epoch}`)
  expect(again.events.map(({ id }) => id)).toEqual(all.slice(0, 5))
  expect(await bodyOf(await ack('all', { position: again.position, epoch: again.epoch }))).toEqual({
    position: again.position,
  })
  // An earlier position changes nothing.
  expect(await bodyOf(await ack('all', { position: first.position, epoch: first.epoch }))).toEqual({
    position: again.position,
  })
  const rest = await batch('all', `&epoch=${first.epoch}`)
  expect(rest.events.map(({ id }) => id)).toEqual(all.slice(5))
  expect(rest.events.at(-1)).toMatchObject({ runId: run, cursor: rest.position })
  expect(await lagOf('all')).toMatchObject({ lag: all.length - 5 })
  await ack('all', { position: rest.position, epoch: rest.epoch })
  expect(await lagOf('all')).toMatchObject({ lag: 0, lastAckAt: expect.any(String) })
  const metrics = await (await ask('GET', '/v1/metrics')).text()
  expect(metrics).toContain('keepup_consumer_lag_events{consumer="all"} 0\n')
})

test('a second reader takes over: the stream of the first ends with the reason, and its acks are refused', async () => {
  await put('two')
  const first = await opened('two')
  await vi.waitFor(() => expect(first.got.length).toBeGreaterThan(3))
  const { epoch } = first.got[0]!.data
  expect(first.got[0]).toMatchObject({ event: 'reader', data: { name: 'two', epoch, position: null } })
  const handled = first.got[2]!.id
  expect((await ack('two', { position: handled, epoch })).status).toBe(200)
  const second = await opened('two')
  await first.done
  expect(first.got.at(-1)).toMatchObject({ event: 'end', data: { code: 'CONSUMER_TAKEN' } })
  const refused = await ack('two', { position: first.got.at(-2)!.id, epoch })
  expect([refused.status, await bodyOf(refused)]).toMatchObject([409, { code: 'CONSUMER_TAKEN' }])
  await vi.waitFor(() => expect(second.got.length).toBeGreaterThan(1))
  expect(second.got[0]!.data.position).toBe(handled)
  expect(second.got[1]!.data.id).toBe(first.got[3]!.data.id)
  expect((await ask('GET', `/v1/consumers/two/events?wait=0&epoch=${epoch}`)).status).toBe(409)
  await ask('DELETE', '/v1/consumers/two')
  await second.done
  expect(second.got.at(-1)).toMatchObject({ event: 'end', data: { code: 'NOT_FOUND' } })
  // A consumer of the same name has later epochs.
  await put('two')
  expect((await ack('two', { position: handled, epoch: epoch! + 1 })).status).toBe(409)
})

test('a filter leaves other events out, and the position goes over them without an ack', async () => {
  const at = await services.log.headCursor()
  await put('rare', { filter: { types: ['completion'], kinds: ['agent'] } })
  const stream = await opened('rare')
  await vi.waitFor(() => expect(stream.got.filter(({ event }) => event === 'completion')).toHaveLength(1))
  const { epoch } = stream.got[0]!.data
  const { id } = stream.got.find(({ event }) => event === 'completion')!
  // Before its ack the position stays.
  await new Promise((resolve) => setTimeout(resolve, 700))
  expect((await services.consumers.get('rare')).position).toBeNull()
  await ack('rare', { position: id, epoch })
  await vi.waitFor(async () => expect((await lagOf('rare'))?.lag).toBe(0))
  expect(parseCursor((await services.consumers.get('rare')).position!).position).toBeGreaterThanOrEqual(at.position)
  await stream.leave()
  await put('none', { filter: { runs: ['no-such-run'] } })
  expect((await batch('none')).events).toEqual([])
  expect((await lagOf('none'))?.lag).toBe(0)
})

test('a batch waits for the next event', async () => {
  await put('wait', { from: 'end' })
  const asked = ask('GET', '/v1/consumers/wait/events?wait=30')
  const next = await world.started('another')
  const [line] = (await (await asked).text()).split('\n')
  expect(JSON.parse(line!)).toMatchObject({ runId: next })
})

test('an erased body is marked', async () => {
  const id = await world.driven('finish and forget this')
  await put('erased', { filter: { runs: [id] } })
  expect(JSON.stringify((await batch('erased')).events)).toContain('and forget this')
  expect((await ask('POST', `/v1/runs/${id}/erase`, { body: { all: true, reason: 'asked' } })).status).toBe(200)
  const { events } = await batch('erased')
  expect(JSON.stringify(events)).not.toContain('and forget this')
  expect(events.find(({ type }) => type === 'user_input' || type === 'agent_started')).toMatchObject({
    erased: true,
    payload: null,
  })
})

test('names of keepup’s own consumers are refused', async () => {
  const name = 'keepup.telemetry'
  await world.services.consumers.create(name, { after: null, filter: {} })
  const { epoch } = await world.services.consumers.open(name)
  const path = `/v1/consumers/${name}`
  const position = (await world.services.consumers.get(name)).head
  const answers = [
    ...[await put(name), await put('keepup.other'), await ask('GET', `${path}/events`)],
    await ask('POST', `${path}/ack`, { body: { position, epoch } }),
  ]
  for (const answer of answers) {
    expect(answer.status).toBe(400)
    expect(JSON.stringify(await bodyOf(answer))).toContain('are for readers of keepup itself')
  }
  expect(await world.services.consumers.get(name)).toMatchObject({ epoch, position: null })
  expect(await bodyOf(await ask('DELETE', path))).toEqual({ name })
  expect((await ask('DELETE', path)).status).toBe(404)
})

test('the consumer of the setting `telemetry` stays while the setting has a collector', async () => {
  const settings = { telemetry: { url: 'http://127.0.0.1:9' } }
  const sending = await openWorld({ settings })
  onTestFinished(() => sending.close())
  const path = '/v1/consumers/keepup.telemetry'
  const answer = await sending.ask('DELETE', path)
  expect(await bodyOf(answer)).toMatchObject({ status: 400, detail: expect.stringContaining('remove the setting') })
})

test('what does not fit is refused', async () => {
  expect((await ask('GET', '/v1/consumers/any/events?max=0')).status).toBe(400)
  await put('strict', { filter: { types: ['completion', 'error'] } })
  expect((await put('strict', { filter: { types: ['error', 'completion'] } })).status).toBe(200)
  expect(await bodyOf(await put('strict'))).toMatchObject({ status: 409, code: 'CONSUMER_EXISTS' })
  for (const [name, body] of [
    ['Big', {}],
    ['a/b', {}],
    ['x', { filter: { types: ['no_type'] } }],
    ['x', { filter: { types: [] } }],
    ['x', { filter: { kinds: ['nothing'] } }],
    ['x', { filter: { runs: Array.from({ length: 101 }, (_, n) => `r${n}`) } }],
    ['x', { from: 'somewhere' }],
    ['x', { filter: {}, more: 1 }],
  ] as const)
    expect([name, body, (await put(name, body)).status]).toEqual([name, body, name === 'a/b' ? 404 : 400])
  expect((await ask('GET', '/v1/consumers/x/events')).status).toBe(404)
  expect((await ask('DELETE', '/v1/consumers/x')).status).toBe(404)
  const { epoch } = await batch('strict')
  const other = (await services.log.headCursor()).logId.replace(/^./, (c) => (c === '0' ? '1' : '0'))
  const position = `${other}~1~${'0'.repeat(64)}`
  expect(await bodyOf(await ack('strict', { position, epoch }))).toMatchObject({ code: 'CURSOR_MISMATCH' })
})

test('with access, creation, removal and reads are facts', async () => {
  expect((await ask('POST', '/v1/access', { body: { principal: 'ann', name: 'Ann' } })).status).toBe(200)
  await put('audited')
  await batch('audited')
  await ask('DELETE', '/v1/consumers/audited')
  await services.uses.record()
  const facts = (await eventsIn(services))
    .filter(({ header }) => header.stream.startsWith('access-'))
    .map(({ header, body }) => `${header.type} ${Buffer.from(body ?? []).subarray(16)}`)
  for (const operation of ['putConsumer', 'removeConsumer'])
    expect(facts).toContainEqual(expect.stringMatching(`^operation_requested .*"${operation}".*"audited"`))
  expect(facts).toContainEqual(expect.stringMatching(/^read_audited .*"consumeEvents"/))
})
