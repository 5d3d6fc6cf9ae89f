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
  let bytes = byteLength(system) + byteLength(JSON.stringify(tools))
  for (const message of messages) bytes += textBytes(message)
  return inputOf(usage) >= bytes * LEAST_TOKENS_PER_BYTE ? null : Math.ceil(bytes * TOKENS_PER_BYTE)
}

const sizes = new WeakMap<Message, number>()

/** Bytes of text and calls. Other blocks (images, thinking) have more bytes a token, and providers may drop them. */
function textBytes(message: Message): number {
  const known = sizes.get(message)
  if (known !== undefined) return known
  const { content } = message
  const size =
    typeof content === 'string'
      ? byteLength(content)
      : content.reduce((sum, block) => sum + (COUNTED.has(block.type) ? byteLength(JSON.stringify(block)) : 0), 0)
  sizes.set(message, size)
  return size
}

const COUNTED = new Set(['text', 'tool_use'])
