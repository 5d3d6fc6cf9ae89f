import { createRoute, z } from '@hono/zod-openapi'
import { proofStatus } from '../operations/proof/status.ts'
import type { Services } from '../operations/services.ts'
import { newApp, refusals, written } from './new-app.ts'

const metrics = createRoute({
  method: 'get',
  path: '/v1/metrics',
  operationId: 'getMetrics',
  'x-keepup-right': 'system.read',
  summary: 'The signed heads and the anchors as gauges, in the text format of Prometheus',
  responses: { 200: { description: 'Gauges', content: { 'text/plain': { schema: z.string() } } }, ...refusals },
})

type Sample = readonly [labels: Readonly<Record<string, string>>, value: number | null]

/** A gauge in the text format. Samples without a value are left out. Labels need no escapes: they are names. */
function gauge(name: string, help: string, samples: readonly Sample[]): string {
  const lines = samples.flatMap(([labels, value]) => {
    if (value === null) return []
    const inside = Object.entries(labels).map(([key, text]) => `${key}="${text}"`)
    return [`keepup_${name}${inside.length === 0 ? '' : `{${inside.join(',')}}`} ${value}\n`]
  })
  return `# HELP keepup_${name} ${help}\n# TYPE keepup_${name} gauge\n${lines.join('')}`
}

const seconds = (time: string | null | undefined): number | null => (time ? Date.parse(time) / 1_000 : null)

export async function metricsText(s: Services): Promise<string> {
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
  ].join('')
}

/** Gauges for monitors. */
export function metricsRoutes(s: Services) {
  return newApp().openapi(metrics, async (c) => {
    c.header('content-type', 'text/plain; version=0.0.4; charset=utf-8')
    return written(c.body(await metricsText(s)))
  })
}
