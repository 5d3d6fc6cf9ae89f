import { byteLength } from '../../../domain/calls/truncate.ts'
import { DocumentError } from '../../../domain/document/errors.ts'
import { MARKUP_LIMITS } from '../../../domain/document/markup/limits.ts'
import type { Node } from '../../../domain/document/markup/tree.ts'
import { Semaphore } from '../../../domain/stream/runtime/concurrency.ts'
import { beside, firstMessage } from '../../threads/first-message.ts'
import type { MarkupFound, MarkupWork } from './to-tree.ts'

const LIMIT_MS = 5_000
const MEMORY_MB = 256
/** Each parser takes a thread and its memory. Other calls wait. */
const AT_ONCE = new Semaphore(2)

/**
 * Parses HTML or Markdown of at most 1 MiB in a separate thread, so that hostile text cannot use the CPU for more than
 * `limitMs`. Rejects with `CONTENT_REFUSED` above the limits.
 */
export async function parseMarkup(
  format: MarkupWork['format'],
  text: string,
  limitMs = LIMIT_MS,
): Promise<readonly Node[]> {
  const name = format === 'html' ? 'the HTML' : 'the Markdown'
  const bytes = byteLength(text)
  if (bytes > MARKUP_LIMITS.bytes) throw refused(`${name} has ${bytes} bytes; send at most ${MARKUP_LIMITS.bytes}`)
  return AT_ONCE.run(() => parsedApart(format, text, name, limitMs))
}

async function parsedApart(
  format: MarkupWork['format'],
  text: string,
  name: string,
  limitMs: number,
): Promise<readonly Node[]> {
  const { depth, nodes } = MARKUP_LIMITS
  const work: MarkupWork = { format, text, limits: { depth, nodes } }
  const limit = AbortSignal.timeout(limitMs)
  try {
    const memory = { maxOldGenerationSizeMb: MEMORY_MB }
    const found = await firstMessage<MarkupFound>(beside(import.meta.url, 'worker'), work, limit, memory)
    if (found.kind === 'limits') throw refused(`${name} ${found.message}; send less, or several documents`)
    return found.children
  } catch (error) {
    const tooMuch = limit.aborted || (error as { code?: string }).code === 'ERR_WORKER_OUT_OF_MEMORY'
    if (!tooMuch) throw error
    throw refused(`${name} takes more than ${limitMs} ms or ${MEMORY_MB} MB to parse; send a simpler text`)
  }
}

const refused = (message: string) => new DocumentError('CONTENT_REFUSED', message)
