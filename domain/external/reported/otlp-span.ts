import type { Json, JsonObject } from '../../log/json.ts'

/** A span of OTLP, decoded. Ids are lower-case hex; times are nanoseconds since the epoch. */
export interface OtlpSpan {
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
  /** The resource's `service.name`; empty: none. */
  readonly service: string
  /** The name of the instrumentation scope. */
  readonly scope: string
}

/** A value that JSON lacks (NaN, an integer beyond 2^53) is text. Bytes are base64. */
export type Attributes = Readonly<Record<string, Json>>

/** The longest chain of values within one attribute. Deeper values become {@link TOO_DEEP}. */
export const MAX_DEPTH = 16
export const TOO_DEEP = '…(too deep)'

/** Attributes by key. The last value of a repeated key counts. */
export const attributesOf = (pairs: Iterable<readonly [string, Json]>): JsonObject => Object.fromEntries(pairs)
