import {
  attributesOf,
  type DecodedSpans,
  idFault,
  MAX_DEPTH,
  type OtlpResource,
  type OtlpSpan,
  TOO_DEEP,
} from '../../domain/external/reported/otlp-span.ts'
import { hex } from '../../domain/log/ids.ts'
import type { Json, JsonObject } from '../../domain/log/json.ts'
import { OtlpBudget } from './budget.ts'
import { decodeSpans } from './decode-spans.ts'
import { jsonDouble, jsonInteger } from './values.ts'
import { bytesIn, doubleIn, type Field, fieldsOf, fixed32In, fixed64In, integerIn, textIn } from './wire.ts'

// ExportTraceServiceRequest in Protocol Buffers. The numbers of the fields are those of opentelemetry-proto 1.x.

type Message = ReadonlyMap<number, readonly Field[]>

/** Decodes the messages of one request. */
class Decoder {
  readonly #budget: OtlpBudget

  constructor(budget: OtlpBudget) {
    this.#budget = budget
  }

  message(bytes: Uint8Array): Message {
    const fields = new Map<number, Field[]>()
    for (const field of fieldsOf(bytes)) {
      this.#budget.value()
      const same = fields.get(field.number)
      if (same === undefined) fields.set(field.number, [field])
      else same.push(field)
    }
    return fields
  }

  /** Decodes each message when it is taken. */
  *messages(message: Message, number: number): Generator<Message> {
    for (const field of all(message, number)) yield this.message(bytesIn(field))
  }

  /** The last message of a field counts. */
  last(message: Message, number: number): Message {
    const field = all(message, number).at(-1)
    return field === undefined ? new Map() : this.message(bytesIn(field))
  }

  /** The span, or why it is refused. */
  span(span: Message, resource: OtlpResource): OtlpSpan | string {
    const ids = {
      traceId: read(span, 1, hexIn, ''),
      spanId: read(span, 2, hexIn, ''),
      parentSpanId: read(span, 4, hexIn, ''),
    }
    const fault = idFault(ids)
    if (fault !== null) return fault
    const status = this.last(span, 15)
    return {
      ...ids,
      ...resource,
      flags: read(span, 16, fixed32In, 0),
      name: read(span, 5, textIn, ''),
      startNano: read(span, 7, fixed64In, 0n),
      endNano: read(span, 8, fixed64In, 0n),
      attributes: this.attributes(span, 9),
      events: Array.from(this.messages(span, 11), (event) => ({
        name: read(event, 2, textIn, ''),
        atNano: read(event, 1, fixed64In, 0n),
        attributes: this.attributes(event, 3),
      })),
      status: { code: Number(read(status, 3, integerIn, 0n)), message: read(status, 2, textIn, '') },
      dropped: Number(read(span, 10, integerIn, 0n) + read(span, 12, integerIn, 0n)),
    }
  }

  attributes(message: Message, number: number, depth = 0): JsonObject {
    return attributesOf(this.#pairs(message, number, depth))
  }

  *#pairs(message: Message, number: number, depth: number): Generator<[string, Json]> {
    for (const pair of this.messages(message, number))
      yield [read(pair, 1, textIn, ''), read(pair, 2, (field) => this.#anyValue(bytesIn(field), depth), null)]
  }

  #anyValue(bytes: Uint8Array, depth: number): Json {
    let value: Json = null
    for (const field of fieldsOf(bytes)) {
      this.#budget.value()
      value = this.#oneOf(field, depth)
    }
    return value
  }

  #oneOf(field: Field, depth: number): Json {
    switch (field.number) {
      case 1:
        return textIn(field)
      case 2:
        return integerIn(field) !== 0n
      case 3:
        return jsonInteger(BigInt.asIntN(64, integerIn(field)))
      case 4:
        return jsonDouble(doubleIn(field))
      case 5:
        if (depth >= MAX_DEPTH) return TOO_DEEP
        return all(this.message(bytesIn(field)), 1).map((one) => this.#anyValue(bytesIn(one), depth + 1))
      case 6:
        return depth >= MAX_DEPTH ? TOO_DEEP : this.attributes(this.message(bytesIn(field)), 1, depth + 1)
      case 7:
        return Buffer.from(bytesIn(field)).toString('base64')
      default:
        return null
    }
  }
}

const all = (message: Message, number: number): readonly Field[] => message.get(number) ?? []
/** The last value of a field counts. */
function read<T>(message: Message, number: number, as: (field: Field) => T, absent: T): T {
  const field = message.get(number)?.at(-1)
  return field === undefined ? absent : as(field)
}
const hexIn = (field: Field): string => hex(bytesIn(field))

/**
 * Decodes the spans of a request, one per step. Throws `WireError` if the bytes are no such message, and `OtlpTooLarge` if it
 * has too many spans or values.
 */
export function protobufSpans(bytes: Uint8Array, budget = new OtlpBudget()): Generator<undefined, DecodedSpans> {
  const decoder = new Decoder(budget)
  return decodeSpans<Message>(
    {
      resources: () => decoder.messages(decoder.message(bytes), 1),
      resource: (entry) => decoder.attributes(decoder.last(entry, 1), 1),
      scopes: (entry) => decoder.messages(entry, 2),
      scope: (scoped) => read(decoder.last(scoped, 1), 1, textIn, ''),
      spans: (scoped) => decoder.messages(scoped, 2),
      span: (span, resource) => decoder.span(span, resource),
    },
    budget,
  )
}
