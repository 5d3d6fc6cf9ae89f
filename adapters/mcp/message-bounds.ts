import { jsonSize } from '../../domain/log/json-size.ts'
import { FOREIGN } from '../web/sse-reader.ts'

/** The bounds of one message of a server: bytes, levels, values. A message within them is parsed within 50 ms. */
export const MAX_MESSAGE_BYTES = FOREIGN.event
const MAX_DEPTH = 128
const MAX_VALUES = 100_000

/** Throws if parsing a message's JSON would take long. Call before `JSON.parse`. */
export function requireParsable(json: string): void {
  const { depth, values } = jsonSize(json)
  if (depth > MAX_DEPTH) throw new Error(`the server sent JSON that is nested deeper than ${MAX_DEPTH} levels`)
  if (values > MAX_VALUES) throw new Error(`the server sent a message of more than ${MAX_VALUES} JSON values`)
}
