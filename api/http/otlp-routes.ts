import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { createRoute, z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { OTLP_TYPES, type OtlpEncoding, statusResponse, traceResponse } from '../../adapters/otlp/answer.ts'
import { OtlpTooLarge } from '../../adapters/otlp/budget.ts'
import { jsonSpans, OtlpJsonError } from '../../adapters/otlp/json.ts'
import { protobufSpans } from '../../adapters/otlp/protobuf.ts'
import { WireError } from '../../adapters/otlp/wire.ts'
import type { DecodedSpans } from '../../domain/external/reported/otlp-span.ts'
import { inSteps, yielder } from '../../domain/stream/runtime/yield-to-event-loop.ts'
import { reportSpans } from '../operations/external/report-spans.ts'
import { asProblem, Problem } from '../operations/problem.ts'
import type { Services } from '../operations/services.ts'
import { requestOptions } from './access-guards.ts'
import { betweenPasses, jsonText } from './json-bounds.ts'
import { newApp, refusals, written } from './new-app.ts'
import { type HttpCode, httpStatusOf } from './status.ts'

// Spans over OTLP/HTTP (opentelemetry.io/docs/specs/otlp/#otlphttp), in Protocol Buffers or JSON. The base URL of an
// exporter is /v1/otlp.

const PATH = '/v1/otlp/v1/traces'

/** The most bytes of a request, as sent and as unpacked. */
const MAX_BYTES = 8 * 1024 * 1024
/**
 * The bounds of JSON, which one call parses. Protocol Buffers are decoded span by span, and {@link OtlpBudget} bounds their
 * values. A usual span has fewer than 100 values.
 */
const OF_JSON = { depth: 1_000, values: 300_000 }
const FEWER = `send fewer spans at a time (OTEL_BSP_MAX_EXPORT_BATCH_SIZE), or send them as ${OTLP_TYPES.protobuf}`
/** The most requests at a time. The decoders bound the memory of each. */
const MAX_REQUESTS = 16
const RETRY_AFTER_S = '2'

/** The limit of bodies on a path, bytes. Null: the path does not take spans. */
export const otlpBodyLimit = (path: string): number | null => (path === PATH ? MAX_BYTES : null)

const binary = z.string().meta({ format: 'binary' })

const encoded = (description: string) => ({
  description,
  content: {
    [OTLP_TYPES.json]: { schema: z.looseObject({}) },
    [OTLP_TYPES.protobuf]: { schema: binary },
  },
})

const traces = createRoute({
  method: 'post',
  path: PATH,
  operationId: 'reportSpans',
  'x-keepup-right': 'runs.start',
  summary: 'Record spans of OpenTelemetry as runs of external agents, one run per trace',
  description:
    'An ExportTraceServiceRequest in Protocol Buffers or JSON, also with gzip, of at most 8 MiB and 10,000 spans, in JSON also of at most 300,000 values. Spans that were recorded before change nothing.',
  // A JSON body is not declared, because it would be parsed before its size is known.
  request: { body: { required: true, content: { [OTLP_TYPES.protobuf]: { schema: binary } } } },
  responses: {
    200: encoded('Recorded; partialSuccess counts the spans that are refused, and says why'),
    429: { description: 'Too many requests at a time; send it again after Retry-After' },
    ...refusals,
  },
})

export function otlpRoutes(s: Services) {
  let running = 0
  const record = async (c: Context, encoding: OtlpEncoding | null): Promise<Response> => {
    if (encoding === null)
      throw new Problem<HttpCode>(
        'MEDIA_TYPE',
        `send the body as "Content-Type: ${OTLP_TYPES.protobuf}" or ${OTLP_TYPES.json}`,
      )
    if (running >= MAX_REQUESTS)
      throw new Problem<HttpCode>('TOO_MANY_REQUESTS', `more than ${MAX_REQUESTS} reports at a time; send it again`)
    running += 1
    try {
      const decoded = await spansIn(encoding, await unpacked(c))
      const { rejected, message } = await reportSpans(s, decoded, requestOptions(c, {}), c.req.raw.signal)
      return answer(encoding, 200, traceResponse(encoding, rejected, message))
    } finally {
      running -= 1
    }
  }
  return newApp().openapi(traces, async (c) => {
    const encoding = encodingOf(c)
    try {
      return written(await record(c, encoding))
    } catch (error) {
      const problem = asProblem(error)
      if (problem === null) throw error
      return written(refusal(encoding ?? 'json', problem))
    }
  })
}

/** Null: another type. */
function encodingOf(c: Context): OtlpEncoding | null {
  const [type = ''] = (c.req.header('content-type') ?? '').toLowerCase().split(';')
  const found = Object.entries(OTLP_TYPES).find(([, known]) => known === type.trim())
  return (found?.[0] as OtlpEncoding | undefined) ?? null
}

const gunzipped = promisify(gunzip)

async function unpacked(c: Context): Promise<Uint8Array> {
  const bytes = new Uint8Array(await c.req.arrayBuffer())
  const coding = (c.req.header('content-encoding') ?? 'identity').trim().toLowerCase()
  if (coding === 'identity') return bytes
  if (coding !== 'gzip')
    throw new Problem<HttpCode>('MEDIA_TYPE', 'send the body as "Content-Encoding: gzip", or without an encoding')
  try {
    return await gunzipped(bytes, { maxOutputLength: MAX_BYTES })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
      throw new Problem<HttpCode>(
        'REQUEST_TOO_LARGE',
        `a request may have at most ${MAX_BYTES} bytes; send fewer spans`,
      )
    throw new Problem('INVALID_REQUEST', 'the body is not gzip; send it again')
  }
}

async function spansIn(encoding: OtlpEncoding, bytes: Uint8Array): Promise<DecodedSpans> {
  try {
    const spans = encoding === 'protobuf' ? protobufSpans(bytes) : jsonSpans(await parsed(bytes))
    return await inSteps(spans, yielder())
  } catch (error) {
    if (error instanceof WireError || error instanceof OtlpJsonError)
      throw new Problem('INVALID_REQUEST', `the body is no ExportTraceServiceRequest: ${error.message}`)
    if (error instanceof OtlpTooLarge) throw new Problem<HttpCode>('REQUEST_TOO_LARGE', error.message)
    throw error
  }
}

async function parsed(bytes: Uint8Array): Promise<unknown> {
  await betweenPasses(bytes.length)
  const text = jsonText(bytes, FEWER, OF_JSON)
  await betweenPasses(bytes.length)
  try {
    return JSON.parse(text)
  } catch {
    throw new Problem<HttpCode>('INVALID_JSON', 'the body is not JSON; send an ExportTraceServiceRequest')
  } finally {
    await betweenPasses(bytes.length)
  }
}

/** Exporters repeat these requests, and drop a request with any other refusal. */
const REPEATED = new Set([429, 502, 503, 504])

/**
 * A refusal in the form of OTLP: a Status in the encoding of the request. A conflict with another writer, and a full
 * disk, become 503, because a later attempt may succeed. The guards before the route answer as on every route.
 */
function refusal(encoding: OtlpEncoding, problem: Problem<string>): Response {
  const own = httpStatusOf(problem)
  const status = own === 409 || own === 507 ? 503 : own
  const headers = REPEATED.has(status) ? { 'retry-after': RETRY_AFTER_S } : {}
  return answer(encoding, status, statusResponse(encoding, grpcCode(status), problem.message), headers)
}

/** The gRPC code of an HTTP status (google/rpc/code.proto). */
const grpcCode = (status: number): number =>
  ({ 400: 3, 413: 8, 415: 3, 429: 8, 503: 14 })[status] ?? (status < 500 ? 9 : 13)

const answer = (
  encoding: OtlpEncoding,
  status: number,
  body: Uint8Array | string,
  headers: Readonly<Record<string, string>> = {},
): Response =>
  new Response(body as Uint8Array<ArrayBuffer> | string, {
    status,
    headers: { 'content-type': OTLP_TYPES[encoding], ...headers },
  })
