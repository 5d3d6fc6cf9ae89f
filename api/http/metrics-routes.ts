import { createRoute, z } from '@hono/zod-openapi'
import { metricOtlp, metricText } from '../operations/metrics/metric.ts'
import { Metrics } from '../operations/metrics/metrics.ts'
import type { Services } from '../operations/services.ts'
import { OTLP_SCOPE, resourceText } from '../operations/telemetry/otlp-traces.ts'
import { newApp, refusals, written } from './new-app.ts'
import type { RequestTimes } from './request-times.ts'

const metrics = createRoute({
  method: 'get',
  path: '/v1/metrics',
  operationId: 'getMetrics',
  'x-keepup-right': 'system.read',
  summary:
    'Runs, calls, cost, tables, proof, webhooks, consumers and requests, in the text format of Prometheus or as OTLP',
  request: {
    query: z.strictObject({
      format: z.enum(['prometheus', 'otlp']).default('prometheus').meta({ description: 'otlp: the JSON of OTLP' }),
    }),
  },
  responses: { 200: { description: 'Metrics', content: { 'text/plain': { schema: z.string() } } }, ...refusals },
})

/** Metrics for monitors. */
export function metricsRoutes(s: Services, times: RequestTimes) {
  const all = new Metrics(s)
  return newApp().openapi(metrics, async (c) => {
    const found = [...(await all.read()), times.metric]
    if (c.req.valid('query').format === 'prometheus') {
      c.header('content-type', 'text/plain; version=0.0.4; charset=utf-8')
      return written(c.body(found.map(metricText).join('')))
    }
    c.header('content-type', 'application/json')
    const now = s.clock.now()
    const scopeMetrics = [{ scope: OTLP_SCOPE, metrics: found.map((metric) => metricOtlp(metric, now)) }]
    const resource = resourceText(s.log.logId)
    return written(
      c.body(`{"resourceMetrics":[{"resource":${resource},"scopeMetrics":${JSON.stringify(scopeMetrics)}}]}`),
    )
  })
}
