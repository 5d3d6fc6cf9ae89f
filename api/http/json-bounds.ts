import { setImmediate as nextTurn } from 'node:timers/promises'
import { type JsonSize, jsonSize } from '../../domain/log/json-size.ts'
import { Problem } from '../operations/problem.ts'
import type { HttpCode } from './status.ts'

/** The bounds of a body. A request has far fewer values: a conversation of AG-UI has about ten per message. */
const OF_BODY: JsonSize = { depth: 1_000, values: 40_000 }

/** What a JSON text has too much of. Null: nothing. */
export function excessOf(text: string, most: JsonSize): string | null {
  const { depth, values } = jsonSize(text, most)
  if (depth > most.depth) return `values more than ${most.depth} levels deep`
  return values > most.values ? `more than ${most.values} JSON values` : null
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * The text of a JSON body within bounds. Parsing and validating a text beyond them would block all other requests.
 * `remedy`: the end of the message, which tells the sender how to change the request. Throws a {@link Problem}.
 */
export function jsonText(bytes: Uint8Array | ArrayBuffer, remedy: string, most = OF_BODY): string {
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch {
    throw new Problem<HttpCode>('INVALID_JSON', 'the body is not well-formed UTF-8')
  }
  const excess = excessOf(text, most)
  if (excess !== null) throw new Problem<HttpCode>('REQUEST_TOO_LARGE', `the body has ${excess}; ${remedy}`)
  return text
}

/** The size from which each pass over a body runs in a separate turn of the event loop. */
const LARGE_BYTES = 1024 * 1024

/** Serves other requests between two passes over a large body, such as copying, checking and parsing. */
export async function betweenPasses(bytes: number): Promise<void> {
  if (bytes > LARGE_BYTES) await nextTurn()
}
