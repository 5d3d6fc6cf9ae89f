import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { traceIdOf } from '../../../domain/log/trace-ids.ts'
import { mcpOverHttp } from '../../support/mcp/http-server.ts'
import { collector } from '../../support/telemetry/collector.ts'
import { bodyOf, openWorld } from '../support/http.ts'

const world = await openWorld()
afterAll(() => world.close())
const { ask, model, services } = world

interface OtlpSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[]
}

const spansOf = async (run: string, query = '', { ask } = world) => {
  const answer = await ask('GET', `/v1/runs/${run}/telemetry${query}`)
  expect(answer.status).toBe(200)
  const { resourceSpans } = await bodyOf<{ resourceSpans: { scopeSpans: { spans: OtlpSpan[] }[] }[] }>(answer)
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
}

const THEIRS = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' }
const traceparent = `00-${THEIRS.traceId}-${THEIRS.spanId}-01`

async function endedRun(headers: Record<string, string> = {}): Promise<string> {
  const answer = await ask('POST', '/v1/runs', { body: { task: 'finish the secret work', model }, headers })
  const { runId } = await bodyOf<{ runId: string }>(answer)
  await services.drivers.ended(runId)
  return runId
}

test('the spans of a run link to the trace of the request that started it, or adopt that trace', async () => {
  const run = await endedRun({ traceparent })
  const linked = await spansOf(run)
  const [root, ...others] = linked.filter(({ parentSpanId }) => parentSpanId === undefined)
  expect(others).toEqual([])
  expect(root).toMatchObject({ name: 'invoke_agent keepup', traceId: traceIdOf(run) })
  expect(root?.links).toEqual([{ ...THEIRS, attributes: [] }])
  const adopted = await spansOf(run, '?adopt=true')
  expect(new Set(adopted.map(({ traceId }) => traceId))).toEqual(new Set([THEIRS.traceId]))
  const top = adopted.find(({ spanId }) => spanId === root?.spanId)
  expect([top?.parentSpanId, top?.links]).toEqual([THEIRS.spanId, undefined])
  expect(adopted.map(({ spanId }) => spanId)).toEqual(linked.map(({ spanId }) => spanId))
})

test('texts are in spans only if the request asks for content', async () => {
  const run = await endedRun()
  expect(JSON.stringify(await spansOf(run))).not.toContain('secret work')
  expect(JSON.stringify(await spansOf(run, '?content=true'))).toContain('finish the secret work')
})

test('a second request gives the same bytes, and an unknown run gives 404', async () => {
  const run = await endedRun()
  const [first, second] = await Promise.all([0, 1].map(() => ask('GET', `/v1/runs/${run}/telemetry`)))
  expect(await first!.text()).toBe(await second!.text())
  const unknown = await ask('GET', '/v1/runs/nothing/telemetry')
  expect([unknown.status, (await bodyOf(unknown)).code]).toEqual([404, 'NOT_FOUND'])
})

test('a request to an MCP server names the exported span of its call: "adopt" decides about the trace', async () => {
  const seen: (string | undefined)[] = []
  const answer = mcpOverHttp((response, id, { _meta }) => {
    seen.push(_meta?.traceparent)
    const result = { content: [{ type: 'text', text: 'done' }] }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  })
  const server = createServer((request, response) => void answer(response, request)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { url } = await collector()
  const calls = (tool: string, args: object) => ({ calls: [{ tool, arguments: args }] })
  const turns = [calls('tracker__echo', {}), calls('complete_task', { summary: 'done' })]
  for (const adopt of [true, false]) {
    const mcp = { tracker: { url: `http://127.0.0.1:${port}/mcp` } }
    const own = await openWorld({ settings: { mcp, telemetry: { url, adopt } } })
    onTestFinished(() => own.close())
    writeFileSync(join(own.root, 'tracker.json'), JSON.stringify({ script: 1, model: 's', turns }))
    const body = { task: 'ask', model: `scripted:${join(own.root, 'tracker.json')}`, tools: ['tracker:echo'] }
    const { runId } = await bodyOf<{ runId: string }>(
      await own.ask('POST', '/v1/runs', { body, headers: { traceparent } }),
    )
    await own.services.drivers.ended(runId)
    const span = (await spansOf(runId, `?adopt=${adopt}`, own)).find(({ name }) => name === 'execute_tool tracker:echo')
    expect(seen.at(-1)).toBe(`00-${span?.traceId}-${span?.spanId}-01`)
    expect(span?.traceId).toBe(adopt ? THEIRS.traceId : traceIdOf(runId))
  }
  expect(seen).toHaveLength(2)
})

interface Metric {
  readonly name: string
  readonly gauge?: {
    readonly dataPoints: readonly { attributes: { key: string; value: object }[]; asDouble: number }[]
  }
}

test('the metrics as OTLP are those of Prometheus', async () => {
  await ask('PUT', '/v1/consumers/desk', { body: { from: 'beginning' } })
  const answer = await ask('GET', '/v1/metrics?format=otlp')
  expect(answer.headers.get('content-type')).toBe('application/json')
  const { resourceMetrics } = await bodyOf<{ resourceMetrics: { scopeMetrics: { metrics: Metric[] }[] }[] }>(answer)
  const metrics = resourceMetrics[0]!.scopeMetrics[0]!.metrics
  const text = await (await ask('GET', '/v1/metrics')).text()
  expect(metrics.map(({ name }) => name)).toEqual([...text.matchAll(/^# TYPE (\S+) \w+$/gm)].map(([, name]) => name))
  const lag = metrics.find(({ name }) => name === 'keepup_consumer_lag_events')!.gauge?.dataPoints
  const [, shown] = /^keepup_consumer_lag_events\{consumer="desk"\} (\d+)$/m.exec(text)!
  expect(lag).toMatchObject([
    { attributes: [{ key: 'consumer', value: { stringValue: 'desk' } }], asDouble: Number(shown) },
  ])
})
