import {
  attributesOf,
  type DecodedSpans,
  idFault,
  MAX_DEPTH,
  type OtlpResource,
  type OtlpSpan,
  TOO_DEEP,
} from '../../domain/external/reported/otlp-span.ts'
import type { Json, JsonObject } from '../../domain/log/json.ts'
import { OtlpBudget } from './budget.ts'
import { decodeSpans } from './decode-spans.ts'
import { jsonDouble, jsonInteger } from './values.ts'

// ExportTraceServiceRequest in JSON (opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding): ids are hex, 64-bit
// integers are text or numbers, enumerations are numbers, and unknown members are ignored. A schema would read all lists
// before the budget can bound them.

/** The JSON is no request of OTLP. */
export class OtlpJsonError extends Error {
  override readonly name = 'OtlpJsonError'
}

/**
 * Decodes the spans of a request, one per step. Throws {@link OtlpJsonError} if the value is no such request, and
 * `OtlpTooLarge` if it has too many spans or values. A span of another shape is a fault and costs no other span.
 */
export function jsonSpans(value: unknown, budget = new OtlpBudget()): Generator<undefined, DecodedSpans> {
  const parts = (of: unknown, name: string) => list(member(of, name), name, budget)
  return decodeSpans<unknown>(
    {
      resources: () => parts(value, 'resourceSpans'),
      resource: (entry) => attributesIn(member(entry, 'resource') ?? {}, 'resource', budget),
      scopes: (entry) => parts(entry, 'scopeSpans'),
      scope: (scoped) => textIn(member(scoped, 'scope') ?? {}, 'name'),
      spans: (scoped) => parts(scoped, 'spans'),
      span: (span, resource) => decodedOr(() => spanOf(span, resource, budget)),
    },
    budget,
  )
}

/** The span, or why it is refused. */
function decodedOr(decode: () => OtlpSpan): OtlpSpan | string {
  try {
    return decode()
  } catch (error) {
    if (error instanceof OtlpJsonError) return error.message
    throw error
  }
}

function spanOf(span: unknown, resource: OtlpResource, budget: OtlpBudget): OtlpSpan {
  const [traceId, spanId, parentSpanId] = ['traceId', 'spanId', 'parentSpanId'].map((id) =>
    textIn(span, id).toLowerCase(),
  ) as [string, string, string]
  const fault = idFault({ traceId, spanId, parentSpanId })
  if (fault !== null) throw new OtlpJsonError(fault)
  const status = member(span, 'status') ?? {}
  return {
    ...{ traceId, spanId, parentSpanId, ...resource },
    flags: numberIn(span, 'flags'),
    name: textIn(span, 'name'),
    startNano: nanosIn(span, 'startTimeUnixNano'),
    endNano: nanosIn(span, 'endTimeUnixNano'),
    status: { code: numberIn(status, 'code'), message: textIn(status, 'message') },
    attributes: attributesIn(span, 'span', budget),
    events: Array.from(list(member(span, 'events'), 'events', budget), (event) => ({
      name: textIn(event, 'name'),
      atNano: nanosIn(event, 'timeUnixNano'),
      attributes: attributesIn(event, 'event', budget),
    })),
    dropped: numberIn(span, 'droppedAttributesCount') + numberIn(span, 'droppedEventsCount'),
  }
}

// Absent and null mean the default value.

function textIn(of: unknown, name: string): string {
  const value = member(of, name) ?? ''
  if (typeof value === 'string') return value
  throw new OtlpJsonError(`${name}: expected text`)
}

function numberIn(of: unknown, name: string): number {
  const value = member(of, name) ?? 0
  if (typeof value === 'number') return value
  if (typeof value === 'string' && /^\d{1,10}$/.test(value)) return Number(value)
  throw new OtlpJsonError(`${name}: expected a number`)
}

/** A number of nanoseconds since the epoch is no safe integer, but a double represents it to the microsecond. */
function nanosIn(of: unknown, name: string): bigint {
  const value = member(of, name) ?? 0
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return BigInt(value)
  if (typeof value === 'string' && /^\d{1,20}$/.test(value)) return BigInt(value)
  throw new OtlpJsonError(`${name}: expected nanoseconds as decimal text`)
}

/** A member of an object. Throws {@link OtlpJsonError} if the value is none. */
function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new OtlpJsonError(`expected an object with ${name}`)
  return (value as Readonly<Record<string, unknown>>)[name]
}

function* list(value: unknown, name: string, budget: OtlpBudget): Generator<unknown> {
  if (value == null) return
  if (!Array.isArray(value)) throw new OtlpJsonError(`${name}: expected a list`)
  for (const entry of value) {
    budget.value()
    yield entry
  }
}

const attributesIn = (value: unknown, of: string, budget: OtlpBudget): JsonObject =>
  attributesOf(pairsIn(member(value, 'attributes'), `attributes of a ${of}`, 0, budget))

function* pairsIn(value: unknown, name: string, depth: number, budget: OtlpBudget): Generator<[string, Json]> {
  for (const pair of list(value, name, budget)) {
    yield [textIn(pair, 'key'), anyValue(member(pair, 'value'), depth, budget)]
  }
}

/** An AnyValue. A value of no known kind is null. */
function anyValue(value: unknown, depth: number, budget: OtlpBudget): Json {
  const given = (value ?? {}) as Readonly<Record<string, unknown>>
  if (typeof given.stringValue === 'string') return given.stringValue
  if (typeof given.boolValue === 'boolean') return given.boolValue
  if (given.intValue !== undefined) return integerOf(given.intValue)
  if (given.doubleValue !== undefined) return doubleOf(given.doubleValue)
  if (typeof given.bytesValue === 'string') return given.bytesValue
  const nested = given.arrayValue ?? given.kvlistValue
  if (nested == null) return null
  if (depth >= MAX_DEPTH) return TOO_DEEP
  const values = member(nested, 'values')
  if (given.arrayValue != null)
    return Array.from(list(values, 'arrayValue', budget), (one) => anyValue(one, depth + 1, budget))
  return attributesOf(pairsIn(values, 'kvlistValue', depth + 1, budget))
}

const integerOf = (value: unknown): Json =>
  typeof value === 'number' || (typeof value === 'string' && /^-?\d{1,20}$/.test(value))
    ? Number.isInteger(Number(value))
      ? jsonInteger(BigInt(value))
      : jsonDouble(Number(value))
    : null

/** A double is a number, or text: a number that JSON lacks ("NaN"), or decimal. */
const doubleOf = (value: unknown): Json =>
  typeof value === 'number' || (typeof value === 'string' && value.trim() !== '') ? jsonDouble(Number(value)) : null
