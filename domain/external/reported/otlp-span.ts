import type { Json, JsonObject } from '../../log/json.ts'

/** The program and the instrumentation that made a span. Empty: not known. */
export interface OtlpResource {
  /** The resource's `service.name`. */
  readonly service: string
  /** The resource's `service.instance.id`. */
  readonly instance: string
  /** The name of the instrumentation scope. */
  readonly scope: string
}

/** A span of OTLP, decoded. Ids are lower-case hex; times are nanoseconds since the epoch. */
export interface OtlpSpan extends OtlpResource {
  readonly traceId: string
  readonly spanId: string
  /** Empty: the span is a root. */
  readonly parentSpanId: string
  readonly flags: number
  readonly name: string
  readonly startNano: bigint
  /** 0: the span is open. */
  readonly endNano: bigint
  readonly attributes: Attributes
  readonly events: readonly { readonly name: string; readonly atNano: bigint; readonly attributes: Attributes }[]
  /** 0: unset, 1: ok, 2: error. */
  readonly status: { readonly code: number; readonly message: string }
  /** How many attributes and events the sender left out. */
  readonly dropped: number
}

/** The spans of a request. `faults`: for each span that could not be decoded, why. */
export interface DecodedSpans {
  readonly spans: readonly OtlpSpan[]
  readonly faults: readonly string[]
}

/** A value that JSON lacks (NaN, an integer beyond 2^53) is text. Bytes are base64. */
export type Attributes = Readonly<Record<string, Json>>

/** The longest chain of values within one attribute. Deeper values become {@link TOO_DEEP}. */
export const MAX_DEPTH = 16
export const TOO_DEEP = '…(too deep)'

/** Attributes by key. The last value of a repeated key counts. */
export const attributesOf = (pairs: Iterable<readonly [string, Json]>): JsonObject => Object.fromEntries(pairs)

/** The names of a program in the attributes of its resource. */
export function resourceOf(attributes: Attributes): Omit<OtlpResource, 'scope'> {
  const text = (key: string): string => {
    const value = Object.hasOwn(attributes, key) ? attributes[key] : undefined
    return typeof value === 'string' ? value : ''
  }
  return { service: text('service.name'), instance: text('service.instance.id') }
}

/** Why the ids of a span are refused; null: they are valid. */
export function idFault({
  traceId,
  spanId,
  parentSpanId,
}: Pick<OtlpSpan, 'traceId' | 'spanId' | 'parentSpanId'>): string | null {
  if (!isId(traceId, 32)) return 'its trace id is not 16 bytes other than zeros'
  if (!isId(spanId, 16)) return 'its span id is not 8 bytes other than zeros'
  if (parentSpanId !== '' && !isId(parentSpanId, 16)) return 'the span id of its parent is not 8 bytes other than zeros'
  return null
}

const isId = (id: string, digits: number): boolean => id.length === digits && /^[0-9a-f]*[1-9a-f][0-9a-f]*$/.test(id)
