import { RawBody } from '../../domain/document/runtime/received-body.ts'

/** The most JSON values of a body. A valid request has fewer: four members, and three per precondition. */
const MAX_VALUES = 40_000
const MAX_DEPTH = 32

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * The JSON value of a body, or the body itself if it is not JSON. A body with too many values is not parsed, because
 * parsing would block all other requests.
 */
export function envelopeBody(sent: Uint8Array): unknown {
  const excess = excessOf(sent)
  if (excess !== null) return new RawBody(sent, `the request has ${excess}; send only the members of a request`)
  try {
    return JSON.parse(utf8.decode(sent))
  } catch {
    return new RawBody(sent, 'the request is not JSON in UTF-8; correct it')
  }
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c]
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b])
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d])

/** The excess of a text that may be JSON. Null: none. Each value of a list except the first follows a comma. */
function excessOf(bytes: Uint8Array): string | null {
  let [values, depth] = [0, 0]
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte === QUOTE) at = endOfString(bytes, at + 1)
    else if (byte === COMMA) values += 1
    else if (OPENING.has(byte)) {
      values += 1
      depth += 1
    } else if (CLOSING.has(byte)) depth -= 1
    if (values > MAX_VALUES) return `more than ${MAX_VALUES} values`
    if (depth > MAX_DEPTH) return `values more than ${MAX_DEPTH} deep`
  }
  return null
}

/** The index of the quote that ends a string. */
function endOfString(bytes: Uint8Array, from: number): number {
  let at = from
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
  return at
}
