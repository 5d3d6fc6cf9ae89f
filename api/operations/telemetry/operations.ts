import { z } from 'zod'
import { JsonPieces, operation } from '../operation.ts'
import { Id } from '../schemas.ts'
import type { Services } from '../services.ts'
import { spanBatches } from './otlp-traces.ts'
import { spansOfRun } from './run-spans.ts'
import { Telemetry, TelemetryQuery, TelemetryStatus } from './schemas.ts'

/** Runs as OpenTelemetry shows them. */
export const TELEMETRY_OPERATIONS = [
  operation({
    name: 'getTelemetry',
    http: 'GET /v1/runs/{id}/telemetry',
    right: 'bodies.read',
    summary: 'The spans of a run for OpenTelemetry, in the JSON of OTLP; the same at every request',
    input: { params: z.object({ id: Id }), query: TelemetryQuery },
    output: Telemetry,
    answers: { 200: 'The spans' },
    run: async (s, { params: { id }, query: { content, adopt } }) => {
      const pieces = requestPieces(s, id, { content: content === 'true', adopt: adopt === 'true' })
      // An unknown run rejects before the answer begins.
      const first = await pieces.next()
      return new JsonPieces(withFirst(first, pieces))
    },
  }),
  operation({
    name: 'getTelemetryStatus',
    http: 'GET /v1/telemetry',
    right: 'system.read',
    summary: 'The collector in the settings, the last success of sending to it, and the failure since then',
    input: {},
    output: TelemetryStatus,
    answers: { 200: 'The status' },
    run: async ({ telemetry }) => ({ collector: await telemetry.state() }),
  }),
] as const

async function* requestPieces(s: Services, runId: string, options: Parameters<typeof spansOfRun>[2]) {
  let before = '{"resourceSpans":['
  for await (const { text } of spanBatches(s.log.logId, spansOfRun(s, runId, options))) {
    yield `${before}${text}`
    before = ','
  }
  yield before === ',' ? ']}' : `${before}]}`
}

async function* withFirst(first: IteratorResult<string>, rest: AsyncIterator<string>): AsyncGenerator<string> {
  for (let next = first; !next.done; next = await rest.next()) yield next.value
}
