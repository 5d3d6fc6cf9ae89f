import type { Json } from '../../log/json.ts'
import { bodyHasher, SALT_BYTES } from '../../log/seal.ts'
import type { ToolResult } from '../../ports/index.ts'
import type { RuntimePorts, SecretBoundary } from '../../ports/runtime.ts'
import { type YieldToEventLoop, yielder } from '../../stream/runtime/yield-to-event-loop.ts'
import type { Attachment } from '../events/event-parts.ts'
import { KeptText, wholeEnd, wholeStart } from '../kept-text.ts'
import { resultText } from '../result-text.ts'
import { byteLength, decodeText, endsOf, headOf, RESULT_BYTES, tailOf } from '../truncate.ts'
import { filteredParts, resultFilter } from './redact-parts.ts'

/** The largest result that is stored in its event, in bytes. Larger results go to the blob store. */
const MAX_INLINE_RESULT = 64 * 1024
/** The amount hashed between two pauses, in bytes. */
const PART = 256 * 1024
/** The size of `head` and `tail` in the event, in bytes each. */
const END_BYTES = 512

/** A result as recorded, and the stored bytes of the whole result if the event contains only a part. */
export interface StoredResult {
  readonly result: ToolResult
  readonly attached?: { readonly attachment: Attachment; readonly bytes: Uint8Array }
}

/** Moves a long text to `whole`, so that {@link withWhole} processes it in parts instead of at once. */
export function apart(result: ToolResult): ToolResult {
  const { content } = result
  const long = result.whole === undefined && typeof content === 'string' && isLong(content)
  return long ? { ...result, content: '', whole: content } : result
}

/**
 * Splits a result (redacted except for `whole`) into the event's part and the whole redacted text of at most about 64
 * MiB. Time and memory grow with the size; yields to the event loop in between. `readOn`: a note on how to read on from
 * a byte offset.
 */
export async function withWhole(
  { random, clock }: Pick<RuntimePorts, 'random' | 'clock'>,
  secrets: SecretBoundary,
  given: ToolResult,
  readOn: ((from: number) => string) | undefined,
): Promise<StoredResult> {
  const { whole, ...result } = given
  const text = whole ?? longText(result.content)
  if (text === null) return { result }
  const yieldToEventLoop = yielder(clock)
  const bytes = await redacted(random.bytes(SALT_BYTES), secrets, text, yieldToEventLoop)
  const attachment = await describe(bytes, yieldToEventLoop)
  const shown = whole !== undefined && result.content !== '' ? result.content : ends(bytes.subarray(SALT_BYTES), readOn)
  return { result: { ...result, content: shown }, attached: { attachment, bytes } }
}

const isLong = (text: string) => text.length * 3 > MAX_INLINE_RESULT && byteLength(text) > MAX_INLINE_RESULT

function longText(content: Json): string | null {
  const text = resultText(content)
  return isLong(text) ? text : null
}

/** The stored bytes: the salt, then the redacted text. */
async function redacted(
  salt: Uint8Array,
  secrets: SecretBoundary,
  whole: string | readonly Uint8Array[],
  yieldToEventLoop: YieldToEventLoop,
): Promise<Buffer> {
  const kept = new KeptText()
  for await (const part of filteredParts(resultFilter(secrets), whole, yieldToEventLoop)) kept.add(part)
  return Buffer.concat([salt, ...kept.pieces()])
}

async function describe(stored: Buffer, yieldToEventLoop: YieldToEventLoop): Promise<Attachment> {
  const hasher = bodyHasher()
  for (let from = 0; from < stored.length; from += PART) {
    hasher.update(stored.subarray(from, from + PART))
    await yieldToEventLoop()
  }
  const bytes = stored.subarray(SALT_BYTES)
  return {
    hash: hasher.hex(),
    size: bytes.length,
    head: headOf(first(bytes, END_BYTES), END_BYTES),
    tail: tailOf(last(bytes, END_BYTES), END_BYTES),
  }
}

const first = (bytes: Buffer, size: number) => decodeText(wholeEnd(bytes.subarray(0, size)))
const last = (bytes: Buffer, size: number) => decodeText(wholeStart(bytes.subarray(-size)))

/** The part of a text that the model sees: head and tail, with a note on how to read on in between. */
function ends(bytes: Buffer, readOn: ((from: number) => string) | undefined): string {
  const hint = (head: string) => readOn?.(byteLength(head)) ?? 'the whole is kept in the log'
  if (bytes.length <= RESULT_BYTES) return decodeText(bytes)
  return endsOf(first(bytes, RESULT_BYTES), last(bytes, RESULT_BYTES), bytes.length, RESULT_BYTES, hint)
}
