// @module-tag git
import { afterAll, expect, test } from 'vitest'
import { bodyOf, openWorld } from '../support/http.ts'

const world = await openWorld()
const { ask, driven } = world
afterAll(() => world.close())

interface Point {
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue: string } }[]
  readonly asDouble?: number
  readonly count?: string
  readonly bucketCounts?: readonly string[]
  readonly explicitBounds?: readonly number[]
}
type Data = { readonly dataPoints: readonly Point[] }
interface Metric {
  readonly name: string
  readonly gauge?: Data
  readonly sum?: Data & { readonly isMonotonic: boolean }
  readonly histogram?: Data
}

test('metrics count runs, calls, tokens, cost, waits and requests', async () => {
  const run = await driven('write it', { workspace: world.workspace() })
  const [{ toolCallId }] = (await bodyOf<{ approvals: [{ toolCallId: string }] }>(await ask('GET', '/v1/approvals')))
    .approvals
  const text = async () => (await ask('GET', '/v1/metrics')).text()
  const before = await text()
  expect(before).toContain('keepup_runs{status="active"} 1\n')
  expect(before).toContain('keepup_approvals_waiting 1\n')
  expect(before).toContain('keepup_approval_wait_seconds_count 0\n')
  await world.answer(toolCallId, { decision: 'approved' })
  await ask('POST', `/v1/runs/${run}/resume`, { body: {} })
  await world.services.drivers.ended(run)
  await ask('GET', '/v1/runs/no-such-run')
  // Figures of runs are kept for ten seconds.
  const { services } = world
  const [usage] = (await services.read.rows((db) => db.selectFrom('model_calls').selectAll().execute())).value
  await expect.poll(text, { timeout: 30_000 }).toContain('keepup_runs{status="completed"} 1\n')
  const after = await text()
  expect(after).toContain(`keepup_model_calls_total{model="${usage!.model}",outcome="answered"} 2\n`)
  expect(after).toMatch(/^keepup_model_tokens_total\{model="[^"]+",direction="output",cache="none"\} [1-9]\d*$/m)
  expect(after).toMatch(/^keepup_cost_dollars_total\{model="[^"]+"\} \d/m)
  expect(after).toContain('keepup_tool_calls_total{tool="write_file",outcome="succeeded"} 1\n')
  expect(after).toContain('keepup_approvals_waiting 0\n')
  expect(after).toContain('keepup_approval_wait_seconds_bucket{le="+Inf"} 1\n')
  expect(after).toContain('keepup_parked_streams 0\n')
  expect(after).toMatch(/^keepup_log_position [1-9]/m)
  expect(after).toMatch(/^keepup_append_seconds_count [1-9]\d*$/m)
  expect(after).toContain('keepup_http_request_seconds_count{route="getRun",status="404"} 1\n')
})

test('OTLP has counters as cumulative sums, and buckets that add up', async () => {
  const answer = await ask('GET', '/v1/metrics?format=otlp')
  type Body = {
    readonly resourceMetrics: readonly { readonly scopeMetrics: readonly { readonly metrics: Metric[] }[] }[]
  }
  const { metrics } = (await bodyOf<Body>(answer)).resourceMetrics[0]!.scopeMetrics[0]!
  const named = (name: string) => metrics.find((metric) => metric.name === name)!
  expect(named('keepup_model_calls_total').sum).toMatchObject({ isMonotonic: true, aggregationTemporality: 2 })
  expect(named('keepup_runs').gauge!.dataPoints).toHaveLength(1)
  const points = ['keepup_http_request_seconds', 'keepup_append_seconds'].flatMap(
    (name) => named(name).histogram!.dataPoints,
  )
  expect(Number(points.at(-1)!.count)).toBeGreaterThan(0)
  for (const { bucketCounts, explicitBounds, count } of points) {
    expect(bucketCounts).toHaveLength(explicitBounds!.length + 1)
    expect(bucketCounts!.reduce((sum, one) => sum + Number(one), 0)).toBe(Number(count))
  }
})
