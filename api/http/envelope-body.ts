import { RawBody } from '../../domain/document/runtime/received-body.ts'
import { excessOf } from './json-bounds.ts'

/** The bounds of a body. A valid request has fewer values: four members, and three per precondition. */
const MOST = { depth: 32, values: 40_000 }

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * The JSON value of a body, or the body itself if it is not JSON. A body with too many values is not parsed, because
 * parsing would block all other requests.
 */
export function envelopeBody(sent: Uint8Array): unknown {
  try {
    const text = utf8.decode(sent)
    const excess = excessOf(text, MOST)
    if (excess !== null) return new RawBody(sent, `the request has ${excess}; send only the members of a request`)
    return JSON.parse(text)
  } catch {
    return new RawBody(sent, 'the request is not JSON in UTF-8; correct it')
  }
}
