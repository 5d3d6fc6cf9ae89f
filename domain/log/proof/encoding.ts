import { echo } from '../issues.ts'
import { malformed } from './proof-error.ts'

export const HASH_SIZE = 32

/** Padded standard base64. */
export const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')

/** Reads padded standard base64. Only the text that {@link base64} writes is accepted. Throws `MALFORMED`. */
export function fromBase64(text: string): Uint8Array {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.toString('base64') !== text) throw malformed(`"${echo(text)}" is not padded base64; fetch the file again`)
  return bytes
}

/** Reads a hash in base64. Throws `MALFORMED`. */
export function hashFromBase64(text: string): Uint8Array {
  const bytes = fromBase64(text)
  if (bytes.length !== HASH_SIZE)
    throw malformed(`a hash has ${HASH_SIZE} bytes, "${echo(text)}" has ${bytes.length}; fetch the file again`)
  return bytes
}

/** Reads a decimal number without leading zeros, at most 2^53 − 1. Throws `MALFORMED`. */
export function fromDecimal(text: string): number {
  const value = /^(?:0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN
  if (!Number.isSafeInteger(value)) throw malformed(`"${echo(text)}" is not a decimal number below 2^53`)
  return value
}

export const equalBytes = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0
