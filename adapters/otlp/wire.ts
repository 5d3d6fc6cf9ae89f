// The wire format of Protocol Buffers (protobuf.dev/programming-guides/encoding): only the parts that OTLP uses.

/** The bytes are no message of the expected type. */
export class WireError extends Error {
  override readonly name = 'WireError'
}

const utf8 = new TextDecoder('utf-8')

/** One field of a message: an integer, or the bytes of a text, a message or a fixed number. */
export interface Field {
  readonly number: number
  /** 0: varint, 1: 8 bytes, 2: a length and bytes, 5: 4 bytes. */
  readonly type: number
  /** The value of a varint. 0 for the other types. */
  readonly integer: bigint
  readonly bytes: Uint8Array
}

const NONE = new Uint8Array()

/** The fields of a message in order. Throws {@link WireError} for a message that ends early. */
export function* fieldsOf(bytes: Uint8Array): Generator<Field> {
  const reading = { bytes, at: 0 }
  while (reading.at < bytes.length) {
    const tag = Number(varint(reading) & 0xffff_ffffn)
    const [number, type] = [tag >>> 3, tag & 7]
    if (number === 0) throw new WireError('a field has the number 0')
    if (type === 0) yield { number, type, integer: varint(reading), bytes: NONE }
    else if (type === 1 || type === 2 || type === 5) {
      const size = type === 1 ? 8 : type === 5 ? 4 : Number(varint(reading))
      const end = reading.at + size
      if (end > bytes.length) throw new WireError('the message ends within a field')
      yield { number, type, integer: 0n, bytes: bytes.subarray(reading.at, end) }
      reading.at = end
    } else throw new WireError(`a field has the unknown wire type ${type}`)
  }
}

function varint(reading: { readonly bytes: Uint8Array; at: number }): bigint {
  let value = 0n
  for (let shift = 0n; shift < 70n; shift += 7n) {
    const byte = reading.bytes[reading.at++]
    if (byte === undefined) throw new WireError('the message ends within a number')
    value |= BigInt(byte & 0x7f) << shift
    if (byte < 0x80) return BigInt.asUintN(64, value)
  }
  throw new WireError('a number is longer than 10 bytes')
}

const view = ({ buffer, byteOffset, byteLength }: Uint8Array) => new DataView(buffer, byteOffset, byteLength)

function mustBe({ type, number }: Field, expected: number): void {
  if (type !== expected) throw new WireError(`field ${number} has wire type ${type}; expected ${expected}`)
}

/** The bytes of a field that contains a message or bytes. */
export function bytesIn(field: Field): Uint8Array {
  mustBe(field, 2)
  return field.bytes
}

/** Malformed UTF-8 becomes U+FFFD: one bad text must not cost the other spans of a request. */
export const textIn = (field: Field): string => utf8.decode(bytesIn(field))

export function integerIn(field: Field): bigint {
  mustBe(field, 0)
  return field.integer
}

export function fixed64In(field: Field): bigint {
  mustBe(field, 1)
  return view(field.bytes).getBigUint64(0, true)
}

export function fixed32In(field: Field): number {
  mustBe(field, 5)
  return view(field.bytes).getUint32(0, true)
}

export function doubleIn(field: Field): number {
  mustBe(field, 1)
  return view(field.bytes).getFloat64(0, true)
}

const encoder = new TextEncoder()

/** A varint field. `value`: not negative. */
export const integerField = (number: number, value: number): Uint8Array =>
  Uint8Array.from([...varintBytes(number << 3), ...varintBytes(value)])

/** A field of a text or of a message. */
export function bytesField(number: number, value: string | Uint8Array): Uint8Array {
  const bytes = typeof value === 'string' ? encoder.encode(value) : value
  return Buffer.concat([Uint8Array.from([...varintBytes((number << 3) | 2), ...varintBytes(bytes.length)]), bytes])
}

function varintBytes(value: number): number[] {
  const bytes: number[] = []
  let rest = value
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80)
  return [...bytes, rest]
}
