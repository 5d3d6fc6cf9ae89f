import { once } from 'node:events'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { getRequestListener } from '@hono/node-server'
import { ROOT_CONTEXT, SpanStatusCode, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { JsonTraceSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { afterAll, describe, expect, it, onTestFinished, test, vi } from 'vitest'
import { Problem } from '../../../api/operations/problem.ts'
import { reportedRunId } from '../../../domain/log/ids.ts'
import { chat, tool } from '../../support/external/otlp-spans.ts'
import { tempFolder } from '../../support/folders.ts'
import { bodyOf, openWorld, TOKEN } from '../support/http.ts'

const world = await openWorld()
afterAll(() => world.close())
const { ask, faults } = world

const PATH = '/v1/otlp/v1/traces'
const JSON_TYPE = 'application/json'
const PROTOBUF = 'application/x-protobuf'
const SECRET = 'a-secret-that-no-span-may-contain'
/** The sender of a world without access. */
const SENDER = 'anonymous'

/** The spans of an agent with a model call and a failed tool, made by OpenTelemetry's SDK. */
async function agentSpans() {
  const exporter = new InMemorySpanExporter()
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })
  const tracer = provider.getTracer('my-framework')
  const from = Date.UTC(2026, 8, 1)
  const agent = tracer.startSpan('invoke_agent adder', { startTime: from }, ROOT_CONTEXT)
  agent.setAttributes({ 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.conversation.id': 'c1' })
  agent.setAttributes({ 'input.value': 'add two and two', 'output.value': 'four' })
  const below = trace.setSpan(ROOT_CONTEXT, agent)
  const called = { ...chat('claude-sonnet-5', 1_000, 100), odd: [1, 2.5], secret: SECRET }
  tracer.startSpan('chat', { startTime: from + 100, attributes: called }, below).end(from + 600)
  const failed = tracer.startSpan('execute_tool add', { startTime: from + 700, attributes: tool('add') }, below)
  failed.setStatus({ code: SpanStatusCode.ERROR, message: 'no adder' })
  failed.recordException(new RangeError('no adder'))
  failed.end(from + 900)
  agent.end(from + 1_500)
  await provider.forceFlush()
  return exporter.getFinishedSpans()
}

type Spans = Awaited<ReturnType<typeof agentSpans>>

const bytesOf = (bytes: Uint8Array | undefined) => Uint8Array.from(bytes!)
const asProtobuf = (spans: Spans) => bytesOf(ProtobufTraceSerializer.serializeRequest(spans))
const asJson = (spans: Spans) => bytesOf(JsonTraceSerializer.serializeRequest(spans))

const send = (raw: Uint8Array<ArrayBuffer> | string, headers: Record<string, string> = { 'content-type': JSON_TYPE }) =>
  ask('POST', PATH, { raw, headers })

/** The members of a run's view that a report decides. */
async function runOf(spans: Spans) {
  const runId = reportedRunId(SENDER, spans[0]!.spanContext().traceId)
  await world.services.read.caughtUp()
  const { run } = await bodyOf<{ run: Record<string, unknown> }>(await ask('GET', `/v1/runs/${runId}`))
  return { runId, run }
}

const RUN = {
  ...{ status: 'completed', backend: 'otlp', ungoverned: true, interrupted: false, task: 'add two and two' },
  ...{ summary: 'four', createdAt: '2026-09-01T00:00:00.000Z', error: null },
  // 1,000 tokens at 2 dollars and 100 tokens at 10 dollars per million.
  total: { inputTokens: 1_000, outputTokens: 100, nanoDollars: 3_000_000, modelCalls: 1, toolCalls: 1 },
}

describe.each([
  ['protobuf', asProtobuf, { 'content-type': PROTOBUF }],
  ['JSON', asJson, { 'content-type': JSON_TYPE }],
  [
    'protobuf with gzip',
    (spans: Spans) => bytesOf(gzipSync(asProtobuf(spans))),
    { 'content-type': PROTOBUF, 'content-encoding': 'gzip' },
  ],
] as const)('spans of the SDK in %s', (_, serialize, headers) => {
  it('become a run with the times, tokens, cost and errors of the spans, once', async () => {
    await world.services.vault.set('PORTAL', SECRET)
    const spans = await agentSpans()
    for (const part of [spans.slice(1), spans, spans]) {
      const response = await send(serialize(part), { ...headers })
      expect([response.status, response.headers.get('content-type')]).toEqual([200, headers['content-type']])
      expect(Buffer.from(await response.arrayBuffer()).toString()).toBe(
        headers['content-type'] === JSON_TYPE ? '{}' : '',
      )
    }
    const { runId, run } = await runOf(spans)
    expect(run).toMatchObject({ ...RUN, total: expect.objectContaining(RUN.total) })
    const verified = await bodyOf(await ask('GET', `/v1/runs/${runId}/verify`))
    expect(verified).toMatchObject({ ok: true })
    const listed = await bodyOf<{ runs: { runId: string; backend: string }[] }>(await ask('GET', '/v1/runs'))
    expect(listed.runs).toContainEqual(expect.objectContaining({ runId, backend: 'otlp' }))
    const events = await (await ask('GET', `/v1/runs/${runId}/events?limit=100`)).text()
    expect(events).toContain('no adder')
    expect(events).not.toContain(SECRET)
    const { value } = await world.services.read.rows((db) =>
      db.selectFrom('tool_calls').selectAll().where('run_id', '=', runId).execute(),
    )
    expect(value).toMatchObject([
      { tool_name: 'add', status: 'failed', code: 'RangeError', message: 'no adder', duration_ms: 200 },
    ])
  })
})

describe('the documentation', () => {
  const doc = readFileSync(join(import.meta.dirname, '../../../api/docs/telemetry.md'), 'utf8')
  const section = doc.slice(doc.indexOf('## Spans of other agents'))
  const block = (language: string) => new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(section)![1]!

  async function served() {
    const server = createServer(getRequestListener((request) => world.http.fetch(request))).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => {
      vi.unstubAllEnvs()
      server.closeAllConnections()
      server.close()
    })
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  it('has a program that works', async () => {
    vi.stubEnv('KEEPUP_URL', await served())
    vi.stubEnv('KEEPUP_KEY', TOKEN)
    const folder = tempFolder()
    symlinkSync(join(import.meta.dirname, '../../../node_modules'), join(folder, 'node_modules'))
    writeFileSync(join(folder, 'example.mjs'), block('js'))
    await import(pathToFileURL(join(folder, 'example.mjs')).href)
    await world.services.read.caughtUp()
    const { runs } = await bodyOf<{ runs: unknown[] }>(await ask('GET', '/v1/runs?limit=1'))
    // 1,200 tokens at 5 dollars and 80 tokens at 30 dollars per million.
    const total = expect.objectContaining({ inputTokens: 1_200, outputTokens: 80, nanoDollars: 8_400_000 })
    expect(runs).toMatchObject([{ task: 'chat gpt-5.5', backend: 'otlp', status: 'completed', total }])
  })

  it('has variables that an exporter without settings understands', async () => {
    const url = await served()
    for (const [, name, value] of block('sh').matchAll(/^export (\w+)="?([^"\n]*)"?$/gm))
      vi.stubEnv(name!, value!.replace('http://127.0.0.1:7433', url).replace('$KEEPUP_KEY', TOKEN))
    const exporter = new OTLPTraceExporter()
    const spans = await agentSpans()
    const { code } = await new Promise<{ code: number }>((done) => exporter.export(spans, done))
    await exporter.shutdown()
    expect(code).toBe(0)
    expect((await runOf(spans)).run).toMatchObject({ status: 'completed', backend: 'otlp' })
  })
})

describe('a request', () => {
  const span = (more: object) =>
    JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [{ traceId: 'ab'.repeat(16), ...more }] }] }] })

  it('with spans that cannot be recorded is taken in part, and says why', async () => {
    const response = await send(span({ spanId: '00', name: 'x', startTimeUnixNano: '1' }))
    expect([response.status, await bodyOf(response)]).toEqual([
      200,
      { partialSuccess: { rejectedSpans: '1', errorMessage: expect.stringMatching(/^1 × its span id/) } },
    ])
  })

  test.each([
    ['no JSON', '{', { 'content-type': JSON_TYPE }, 400],
    ['JSON of another shape', '{"resourceSpans":[{"scopeSpans":3}]}', { 'content-type': JSON_TYPE }, 400],
    ['a message that ends early', '\n\x20', { 'content-type': PROTOBUF }, 400],
    ['bytes that are no gzip', 'plain', { 'content-type': PROTOBUF, 'content-encoding': 'gzip' }, 400],
    ['another encoding', '{}', { 'content-type': JSON_TYPE, 'content-encoding': 'br' }, 415],
    ['another type', '{}', { 'content-type': 'text/plain' }, 415],
  ] as const)('with %s is refused as OTLP says', async (_, raw, headers, status) => {
    const response = await send(raw, { ...headers })
    expect([response.status, response.headers.get('retry-after')]).toEqual([status, null])
    const answer = Buffer.from(await response.arrayBuffer())
    // A Status: field 1 is the code, field 2 the message.
    if (headers['content-type'] === PROTOBUF) expect([...answer.subarray(0, 3)]).toEqual([0x08, 3, 0x12])
    else expect(JSON.parse(answer.toString())).toMatchObject({ code: 3, message: expect.any(String) })
  })

  it('names its type and encoding in any case, with parameters', async () => {
    const headers = { 'content-type': 'Application/JSON; charset=utf-8', 'content-encoding': ' GZIP ' }
    expect((await send(bytesOf(gzipSync('{}')), headers)).status).toBe(200)
  })

  it('with malformed UTF-8 is refused', async () => {
    expect((await send(Uint8Array.from([...Buffer.from('{"a":"'), 0xff, ...Buffer.from('"}')]))).status).toBe(400)
  })

  test.each([
    ['CONFLICT', 503, 14],
    ['DISK_FULL', 503, 14],
    ['LOG_UNAVAILABLE', 503, 14],
    ['FORBIDDEN', 403, 9],
    ['APPEND_TOO_LARGE', 413, 8],
    ['LOG_CORRUPT', 500, 13],
  ] as const)('that the log refuses with %s is answered with %i and the gRPC code %i', async (code, status, grpc) => {
    const { reports } = world.services.agents!
    vi.spyOn(reports, 'report').mockRejectedValueOnce(new Problem(code, 'no'))
    const response = await send(span({ spanId: 'ab'.repeat(8), name: 'x', startTimeUnixNano: '1500000000000000000' }))
    expect([response.status, await bodyOf(response)]).toEqual([status, { code: grpc, message: 'no' }])
    expect(response.headers.get('retry-after')).toBe(status === 503 ? '2' : null)
  })

  it('that fails for an unknown reason is answered as on every route', async () => {
    vi.spyOn(world.services.agents!.reports, 'report').mockRejectedValueOnce(new Error('odd'))
    const response = await send(span({ spanId: 'ab'.repeat(8), name: 'x', startTimeUnixNano: '1500000000000000000' }))
    expect([response.status, await bodyOf(response)]).toMatchObject([500, { code: 'INTERNAL' }])
    expect(faults.splice(0)).toEqual([expect.objectContaining({ message: 'odd' })])
  })

  it('with a span of another shape records the others', async () => {
    const traceId = 'fe'.repeat(16)
    const ids = { traceId, startTimeUnixNano: 1.5e18 }
    const odd = [{ ...ids, spanId: '1'.repeat(16), flags: { valueOf: 1 } }, { ...ids, startTimeUnixNano: 'noon' }, 7]
    const attributes = [{ key: 'odd', value: { doubleValue: { valueOf: 1 } } }]
    const spans = [...odd, { ...ids, spanId: '2'.repeat(16), name: 'whole', attributes }]
    const response = await send(JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }))
    expect([response.status, await bodyOf(response)]).toMatchObject([200, { partialSuccess: { rejectedSpans: '3' } }])
    expect((await ask('GET', `/v1/runs/${reportedRunId(SENDER, traceId)}`)).status).toBe(200)
  })

  it('with too many spans is refused while it is decoded', async () => {
    const spans = Array(10_001).fill({})
    expect((await send(JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }))).status).toBe(413)
  })

  it('of more values than one call should parse is refused in JSON, and told of the other encoding', async () => {
    const spans = (count: number) => `{"resourceSpans":[{"scopeSpans":[{"more":[${Array(count).fill(0)}]}]}]}`
    expect((await send(spans(299_000))).status).toBe(200)
    const refused = await send(spans(300_000))
    expect([refused.status, await bodyOf(refused)]).toEqual([
      413,
      { code: 8, message: expect.stringMatching(/more than 300000 JSON values; send fewer spans .*x-protobuf$/) },
    ])
    expect((await send('['.repeat(1_001))).status).toBe(413)
  })

  it('that is too large, as sent or as unpacked, is refused before it is parsed', async () => {
    const large = Buffer.alloc(8 * 1024 * 1024 + 1, ' ')
    expect((await send(bytesOf(large))).status).toBe(413)
    expect(
      (await send(bytesOf(gzipSync(large)), { 'content-type': JSON_TYPE, 'content-encoding': 'gzip' })).status,
    ).toBe(413)
  })

  it('is to be sent again later where too many are at work', async () => {
    const agents = world.services.agents!
    const log = await agents.log()
    const gate = Promise.withResolvers<typeof log>()
    const held = vi.spyOn(agents, 'log').mockReturnValue(gate.promise)
    onTestFinished(() => held.mockRestore())
    const refused: Response[] = []
    const sent = Array.from({ length: 20 }, async () => {
      const answer = await send('{}')
      if (answer.status === 429) refused.push(answer)
      return answer.status
    })
    await vi.waitUntil(() => refused.length === 4)
    gate.resolve(log)
    expect((await Promise.all(sent)).filter((status) => status === 200)).toHaveLength(16)
    expect(refused[0]!.headers.get('retry-after')).toBe('2')
    expect(await bodyOf(refused[0]!)).toMatchObject({ code: 8 })
  })
})

test('values of attributes keep their kinds, and deep ones are cut', async () => {
  let deep: object = { stringValue: 'end' }
  for (let n = 0; n < 200; n++) deep = { arrayValue: { values: [deep] } }
  const values = {
    ...{ text: { stringValue: 'a\0b' }, whole: { intValue: '7' }, large: { intValue: '9007199254740993' } },
    ...{ half: { doubleValue: 0.5 }, none: { doubleValue: 'NaN' }, yes: { boolValue: true }, deep },
    ...{ map: { kvlistValue: { values: [{ key: '__proto__', value: { intValue: 1 } }] } }, empty: {} },
  }
  const attributes = Object.entries(values).map(([key, value]) => ({ key, value }))
  const traceId = 'cd'.repeat(16)
  const spans = [{ traceId, spanId: 'ef'.repeat(8), name: 'x', startTimeUnixNano: '1500000000000000000', attributes }]
  expect((await send(JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }))).status).toBe(200)
  const events = await (await ask('GET', `/v1/runs/${reportedRunId(SENDER, traceId)}/events?limit=100`)).text()
  for (const part of [
    ...['"text":"a\ufffdb"', '"whole":7', '"large":"9007199254740993"', '"half":0.5', '"none":"NaN"', '"yes":true'],
    ...['"__proto__":1', '"empty":null', '…(too deep)'],
  ])
    expect(events).toContain(part)
  expect(faults).toEqual([])
})

test('a person closes a run whose root never arrives, and keepup does not say that it ended the program', async () => {
  const [, ...children] = (await agentSpans()).toReversed()
  await send(asJson(children))
  const { runId, run } = await runOf(children)
  expect(run).toMatchObject({ status: 'active', interrupted: false })
  expect((await ask('POST', `/v1/runs/${runId}/cancel`, { body: { reason: 'enough' } })).status).toBe(200)
  expect((await runOf(children)).run).toMatchObject({
    status: 'failed',
    error: { code: 'UNKNOWN_OUTCOME', message: expect.stringContaining('closed before a root span') },
  })
})
