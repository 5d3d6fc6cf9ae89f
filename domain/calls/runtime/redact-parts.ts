import { wellFormed } from '../../log/well-formed.ts'
import type { TextFilter } from '../../ports/index.ts'
import type { SecretBoundary } from '../../ports/runtime.ts'
import { jsonValueFilter } from '../../secrets/json-stream.ts'
import type { YieldToEventLoop } from '../../stream/runtime/yield-to-event-loop.ts'

/** The size of one part of redaction, in bytes or characters. */
const PART = 32 * 1024

/** A filter for a tool result that arrives in parts. Hides secrets, and in JSON also values under secret names. */
export function resultFilter(secrets: SecretBoundary): TextFilter {
  const keys = jsonValueFilter((key, value) => Object.values(secrets.json({ [key]: value }))[0] ?? '')
  const texts = secrets.stream()
  return {
    push: (text) => texts.push(keys.push(text)),
    end: () => texts.push(keys.end()) + texts.end(),
  }
}

/** A long text through a filter, in parts, yielding to the event loop between them. Linear time. */
export async function* filteredParts(
  filter: TextFilter,
  whole: string | readonly Uint8Array[],
  yieldToEventLoop: YieldToEventLoop,
): AsyncGenerator<string> {
  for (const part of parts(whole)) {
    yield filter.push(wellFormed(part))
    await yieldToEventLoop()
  }
  yield filter.end()
}

/** Splits a text without cutting a character. */
function* parts(whole: string | readonly Uint8Array[]): Generator<string> {
  if (typeof whole === 'string') {
    for (let from = 0; from < whole.length; ) {
      const paired = /[\ud800-\udbff]/.test(whole[from + PART - 1] ?? '')
      const to = from + PART + (paired ? 1 : 0)
      yield whole.slice(from, to)
      from = to
    }
    return
  }
  const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })
  for (const piece of whole) {
    for (let from = 0; from < piece.length; from += PART)
      yield utf8.decode(piece.subarray(from, from + PART), { stream: true })
  }
  yield utf8.decode()
}
