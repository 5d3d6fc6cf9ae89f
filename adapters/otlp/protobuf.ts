import { attributesOf, MAX_DEPTH, type OtlpSpan, TOO_DEEP } from '../../domain/external/reported/otlp-span.ts'
import { hex } from '../../domain/log/ids.ts'
import type { Json, JsonObject } from '../../domain/log/json.ts'
import { jsonDouble, jsonInteger } from './values.ts'
import { bytesIn, doubleIn, type Field, fieldsOf, fixed32In, fixed64In, integerIn, textIn } from './wire.ts'

// ExportTraceServiceRequest in Protocol Buffers. The numbers of the fields are those of opentelemetry-proto 1.x.

type Message = ReadonlyMap<number, readonly Field[]>

function messageOf(bytes: Uint8Array): Message {
  const fields = new Map<number, Field[]>()
  for (const field of fieldsOf(bytes)) {
    const same = fields.get(field.number)
    if (same === undefined) fields.set(field.number, [field])
    else same.push(field)
  }
  return fields
}

const all = (message: Message, number: number): readonly Field[] => message.get(number) ?? []
/** The last value of a field counts. */
function read<T>(message: Message, number: number, as: (field: Field) => T, absent: T): T {
  const field = message.get(number)?.at(-1)
  return field === undefined ? absent : as(field)
}
const messages = (message: Message, number: number): Message[] =>
  all(message, number).map((field) => messageOf(bytesIn(field)))
const hexIn = (field: Field): string => hex(bytesIn(field))

/** The spans of a request. Throws `WireError` if the bytes are no such message. */
export const protobufSpans = (bytes: Uint8Array): OtlpSpan[] => messages(messageOf(bytes), 1).flatMap(resourceSpans)

function resourceSpans(message: Message): OtlpSpan[] {
  const resource = messages(message, 1).at(-1)
  const { 'service.name': name } = resource === undefined ? {} : attributes(resource, 1)
  const service = typeof name === 'string' ? name : ''
  return messages(message, 2).flatMap((scoped) => {
    const scope = messages(scoped, 1).at(-1)
    const named = scope === undefined ? '' : read(scope, 1, textIn, '')
    return messages(scoped, 2).map((span) => spanOf(span, service, named))
  })
}

function spanOf(span: Message, service: string, scope: string): OtlpSpan {
  const status = messages(span, 15).at(-1)
  return {
    traceId: read(span, 1, hexIn, ''),
    spanId: read(span, 2, hexIn, ''),
    parentSpanId: read(span, 4, hexIn, ''),
    flags: read(span, 16, fixed32In, 0),
    name: read(span, 5, textIn, ''),
    startNano: read(span, 7, fixed64In, 0n),
    endNano: read(span, 8, fixed64In, 0n),
    attributes: attributes(span, 9),
    events: messages(span, 11).map((event) => ({
      name: read(event, 2, textIn, ''),
      atNano: read(event, 1, fixed64In, 0n),
      attributes: attributes(event, 3),
    })),
    status: {
      code: status === undefined ? 0 : Number(read(status, 3, integerIn, 0n)),
      message: status === undefined ? '' : read(status, 2, textIn, ''),
    },
    dropped: Number(read(span, 10, integerIn, 0n) + read(span, 12, integerIn, 0n)),
    ...{ service, scope },
  }
}

const attributes = (message: Message, number: number, depth = 0): JsonObject =>
  attributesOf(
    messages(message, number).map((pair) => [
      read(pair, 1, textIn, ''),
      read(pair, 2, (field) => anyValue(bytesIn(field), depth), null),
    ]),
  )

function anyValue(bytes: Uint8Array, depth: number): Json {
  let value: Json = null
  for (const field of fieldsOf(bytes)) value = oneOf(field, depth)
  return value
}

function oneOf(field: Field, depth: number): Json {
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
      return all(messageOf(bytesIn(field)), 1).map((one) => anyValue(bytesIn(one), depth + 1))
    case 6:
      return depth >= MAX_DEPTH ? TOO_DEEP : attributes(messageOf(bytesIn(field)), 1, depth + 1)
    case 7:
      return Buffer.from(bytesIn(field)).toString('base64')
    default:
      return null
  }
}
