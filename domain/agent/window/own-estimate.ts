import type { Message } from '../../calls/content.ts'
import { inputOf, type Usage } from '../../calls/content.ts'
import { byteLength } from '../../calls/truncate.ts'
import type { ModelRequest } from '../../ports/index.ts'

/** Text with fewer tokens a byte than this is no text of a language or program: a reported usage below it is wrong. */
const LEAST_TOKENS_PER_BYTE = 1 / 12
/** The same density as the estimate of what a request adds to the last one. */
const TOKENS_PER_BYTE = 1 / 3

/**
 * Input tokens of a request by its text; null if the provider's figure is plausible. Compression relies on the reported
 * usage, and a provider that reports too little would let the context grow until it overflows (seed 000, 5.11.1).
 */
export function ownEstimate({ system, messages, tools }: ModelRequest, usage: Usage): number | null {
  const bytes = byteLength(system) + byteLength(JSON.stringify(tools)) + bytesOf(messages)
  return inputOf(usage) >= bytes * LEAST_TOKENS_PER_BYTE ? null : Math.ceil(bytes * TOKENS_PER_BYTE)
}

/** The messages of a request, and the bytes up to each of them, inclusive. */
interface Sums {
  readonly messages: Message[]
  readonly bytes: number[]
}

/** The sums of the last request of each run, by its first message. */
const sums = new WeakMap<Message, Sums>()

/** The bytes of a request's messages. A request mostly repeats the messages of the last one, whose sums are reused. */
function bytesOf(messages: readonly Message[]): number {
  const first = messages[0]
  if (first === undefined) return 0
  const known = sums.get(first) ?? { messages: [], bytes: [] }
  sums.set(first, known)
  let same = 0
  while (same < messages.length && known.messages[same] === messages[same]) same++
  known.messages.length = same
  known.bytes.length = same
  let total = known.bytes[same - 1] ?? 0
  for (const message of same === 0 ? messages : messages.slice(same)) {
    total += textBytes(message)
    known.messages.push(message)
    known.bytes.push(total)
  }
  return total
}

/** Bytes of text and calls. Other blocks (images, thinking) have more bytes a token, and providers may drop them. */
const textBytes = ({ content }: Message): number =>
  typeof content === 'string'
    ? byteLength(content)
    : content.reduce((sum, block) => sum + (COUNTED.has(block.type) ? byteLength(JSON.stringify(block)) : 0), 0)

const COUNTED = new Set(['text', 'tool_use'])
