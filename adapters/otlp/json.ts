import { z } from 'zod'
import { attributesOf, MAX_DEPTH, type OtlpSpan, TOO_DEEP } from '../../domain/external/reported/otlp-span.ts'
import { firstIssue } from '../../domain/log/issues.ts'
import type { Json } from '../../domain/log/json.ts'
import { jsonDouble, jsonInteger } from './values.ts'

// ExportTraceServiceRequest in JSON (opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding): ids are hex, 64-bit
// integers are text or numbers, enumerations are numbers, and unknown members are ignored.

/** The JSON is no request of OTLP. */
export class OtlpJsonError extends Error {
  override readonly name = 'OtlpJsonError'
}

/** Absent and null mean the default value. */
const orDefault = <T extends z.ZodType>(schema: T, value: z.output<T>) =>
  schema.nullish().transform((given) => given ?? value)
const text = orDefault(z.string(), '')
const number = orDefault(z.coerce.number(), 0)
const id = text.transform((value) => value.toLowerCase())
const nano = orDefault(
  z.union([z.string().regex(/^\d{1,20}$/, 'expected nanoseconds as decimal text'), z.int().nonnegative()]),
  '0',
).transform((value) => BigInt(value))
const list = <T extends z.ZodType>(schema: T) => orDefault(z.array(schema), [])

/** Checked when it is converted, because a schema of nested values could exhaust the stack. */
const attributes = list(z.looseObject({ key: text, value: z.unknown() })).transform((pairs) =>
  attributesOf(pairs.map(({ key, value }) => [key, anyValue(value, 0)] as const)),
)

const Span = z.looseObject({
  traceId: id,
  spanId: id,
  parentSpanId: id,
  flags: number,
  name: text,
  startTimeUnixNano: nano,
  endTimeUnixNano: nano,
  attributes,
  events: list(z.looseObject({ name: text, timeUnixNano: nano, attributes })),
  status: orDefault(z.looseObject({ code: number, message: text }), { code: 0, message: '' }),
  droppedAttributesCount: number,
  droppedEventsCount: number,
})

const Request = z.looseObject({
  resourceSpans: list(
    z.looseObject({
      resource: orDefault(z.looseObject({ attributes }), { attributes: {} }),
      scopeSpans: list(
        z.looseObject({ scope: orDefault(z.looseObject({ name: text }), { name: '' }), spans: list(Span) }),
      ),
    }),
  ),
})

/** The spans of a request. Throws {@link OtlpJsonError} if the value is no such request. */
export function jsonSpans(value: unknown): OtlpSpan[] {
  const parsed = Request.safeParse(value)
  if (!parsed.success) throw new OtlpJsonError(firstIssue(parsed.error, 'the request'))
  return parsed.data.resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const name = resource.attributes['service.name']
    const service = typeof name === 'string' ? name : ''
    return scopeSpans.flatMap(({ scope, spans }) => spans.map((span) => spanOf(span, service, scope.name)))
  })
}

function spanOf(span: z.output<typeof Span>, service: string, scope: string): OtlpSpan {
  const { traceId, spanId, parentSpanId, flags, name, status } = span
  return {
    ...{ traceId, spanId, parentSpanId, flags, name, service, scope },
    startNano: span.startTimeUnixNano,
    endNano: span.endTimeUnixNano,
    attributes: span.attributes,
    events: span.events.map((event) => ({
      name: event.name,
      atNano: event.timeUnixNano,
      attributes: event.attributes,
    })),
    status: { code: status.code, message: status.message },
    dropped: span.droppedAttributesCount + span.droppedEventsCount,
  }
}

/** An AnyValue. A value of no known kind is null. */
function anyValue(value: unknown, depth: number): Json {
  const given = (value ?? {}) as Readonly<Record<string, unknown>>
  if (typeof given.stringValue === 'string') return given.stringValue
  if (typeof given.boolValue === 'boolean') return given.boolValue
  if (given.intValue !== undefined) return integerOf(given.intValue)
  if (given.doubleValue !== undefined) return jsonDouble(Number(given.doubleValue))
  if (typeof given.bytesValue === 'string') return given.bytesValue
  const values = (member: unknown): readonly unknown[] => {
    const found = (member as { readonly values?: unknown } | null)?.values
    return Array.isArray(found) ? found : []
  }
  if (given.arrayValue !== undefined)
    return depth >= MAX_DEPTH ? TOO_DEEP : values(given.arrayValue).map((one) => anyValue(one, depth + 1))
  if (given.kvlistValue === undefined) return null
  if (depth >= MAX_DEPTH) return TOO_DEEP
  const pairs = values(given.kvlistValue) as readonly ({ key?: unknown; value?: unknown } | null)[]
  return attributesOf(pairs.map((pair) => [String(pair?.key ?? ''), anyValue(pair?.value, depth + 1)] as const))
}

const integerOf = (value: unknown): Json =>
  typeof value === 'number' || (typeof value === 'string' && /^-?\d{1,20}$/.test(value))
    ? Number.isInteger(Number(value))
      ? jsonInteger(BigInt(value))
      : jsonDouble(Number(value))
    : null
