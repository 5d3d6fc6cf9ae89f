import { createRoute, z } from '@hono/zod-openapi'
import { proofStatus } from '../operations/proof/status.ts'
import type { Services } from '../operations/services.ts'
import { OTLP_SCOPE, resourceText } from '../operations/telemetry/otlp-traces.ts'
import { newApp, refusals, written } from './new-app.ts'

const metrics = createRoute({
  method: 'get',
  path: '/v1/metrics',
  operationId: 'getMetrics',
  'x-keepup-right': 'system.read',
  summary:
    'Signed heads, anchors, webhooks, sent spans and consumers as gauges, in the text format of Prometheus, or as OTLP',
  request: {
    query: z.strictObject({
      format: z.enum(['prometheus', 'otlp']).default('prometheus').meta({ description: 'otlp: the JSON of OTLP' }),
    }),
  },
  responses: { 200: { description: 'Gauges', content: { 'text/plain': { schema: z.string() } } }, ...refusals },
})

type Sample = readonly [labels: Readonly<Record<string, string>>, value: number | null]

interface Gauge {
  readonly name: string
  readonly help: string
  readonly samples: readonly (readonly [labels: Sample[0], value: number])[]
}

/** Samples without a value are left out. */
const gauge = (name: string, help: string, samples: readonly Sample[]): Gauge => ({
  ...{ name: `keepup_${name}`, help },
  samples: samples.flatMap(([labels, value]) => (value === null ? [] : [[labels, value] as const])),
})

/** A gauge in the text format. Labels need no escapes: they are names. */
function gaugeText({ name, help, samples }: Gauge): string {
  const lines = samples.map(([labels, value]) => {
    const inside = Object.entries(labels).map(([key, text]) => `${key}="${text}"`)
    return `${name}${inside.length === 0 ? '' : `{${inside.join(',')}}`} ${value}\n`
  })
  return `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${lines.join('')}`
}

/** The gauges for Prometheus. */
export const metricsText = async (s: Services): Promise<string> => (await gaugesOf(s)).map(gaugeText).join('')

/** The gauges as an ExportMetricsServiceRequest of OTLP. */
export async function metricsRequest(s: Services): Promise<string> {
  const [gauges, timeUnixNano] = [await gaugesOf(s), `${s.clock.now()}000000`]
  const metrics = gauges.map(({ name, help, samples }) => ({
    ...{ name, description: help },
    gauge: {
      dataPoints: samples.map(([labels, asDouble]) => {
        const attributes = Object.entries(labels).map(([key, stringValue]) => ({ key, value: { stringValue } }))
        return { attributes, timeUnixNano, asDouble }
      }),
    },
  }))
  const scopeMetrics = JSON.stringify([{ scope: OTLP_SCOPE, metrics }])
  return `{"resourceMetrics":[{"resource":${resourceText(s.log.logId)},"scopeMetrics":${scopeMetrics}}]}`
}

const seconds = (time: string | null | undefined): number | null => (time ? Date.parse(time) / 1_000 : null)

async function gaugesOf(s: Services): Promise<readonly Gauge[]> {
  const webhooks = await s.webhooks.list()
  const hooks = (of: (webhook: (typeof webhooks)[number]) => number | null) =>
    webhooks.map((webhook): Sample => [{ webhook: webhook.name }, of(webhook)])
  const collector = await s.telemetry.state()
  const consumers = await s.consumers.list()
  const { head, unsignedSince, why, keyMissing, anchors } = await proofStatus(s)
  const one = (value: number | null): readonly Sample[] => [[{}, value]]
  const each = (of: (anchor: (typeof anchors)[number]) => number | null) =>
    anchors.map((anchor): Sample => [{ anchor: anchor.anchor, kind: anchor.kind }, of(anchor)])
  const unsigned = unsignedSince === null ? 0 : Math.max(0, (s.clock.now() - Date.parse(unsignedSince)) / 1_000)
  return [
    gauge('head_size', 'Events that the last signed head covers.', one(head?.size ?? null)),
    gauge('head_signed_timestamp_seconds', 'When the last head was signed.', one(seconds(head?.signedAt))),
    gauge('log_unsigned_seconds', 'Age of the oldest event that no head covers; 0: there is none.', one(unsigned)),
    gauge('log_signing_failed', '1: the last attempt to sign the log failed.', one(why === undefined ? 0 : 1)),
    gauge('log_key_missing', '1: this machine does not have the key that signs the log.', one(keyMissing ? 1 : 0)),
    gauge(
      'anchor_size',
      'Events of the last head that the anchor keeps.',
      each(({ size }) => size),
    ),
    gauge(
      'anchor_success_timestamp_seconds',
      'When it was left there.',
      each((a) => seconds(a.anchoredAt)),
    ),
    gauge(
      'anchor_failed',
      '1: the last attempt failed.',
      each(({ failure }) => (failure === null ? 0 : 1)),
    ),
    gauge(
      'webhook_behind',
      'Events that the webhook has not handled, up to 1000.',
      hooks(({ behind }) => behind),
    ),
    gauge(
      'webhook_success_timestamp_seconds',
      'When the last notice was delivered.',
      hooks(({ deliveredAt }) => seconds(deliveredAt)),
    ),
    gauge(
      'webhook_failed',
      '1: the last delivery failed.',
      hooks(({ failure }) => (failure === null ? 0 : 1)),
    ),
    gauge(
      'webhook_stopped',
      '1: its receiver answered 410.',
      hooks(({ stopped }) => (stopped === null ? 0 : 1)),
    ),
    gauge('telemetry_success_timestamp_seconds', 'When spans were last sent.', one(seconds(collector?.sentAt))),
    gauge(
      'telemetry_failed',
      '1: the last request to the collector failed.',
      one(collector === null ? null : collector.failure === null ? 0 : 1),
    ),
    gauge(
      'consumer_lag_events',
      'Events of the log that the consumer has not acked, up to 10000.',
      consumers.map(({ name, lag }) => [{ consumer: name }, lag]),
    ),
  ]
}

/** Gauges for monitors. */
export function metricsRoutes(s: Services) {
  return newApp().openapi(metrics, async (c) => {
    if (c.req.valid('query').format === 'otlp') {
      c.header('content-type', 'application/json')
      return written(c.body(await metricsRequest(s)))
    }
    c.header('content-type', 'text/plain; version=0.0.4; charset=utf-8')
    return written(c.body(await metricsText(s)))
  })
}
