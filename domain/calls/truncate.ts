import { wellFormed } from '../log/well-formed.ts'

const utf8 = new TextEncoder()

/** The maximum part of one result that a model sees, in UTF-8 bytes. */
export const RESULT_BYTES = 30_720

/** Decodes UTF-8 to well-formed text; invalid bytes become U+FFFD. */
export const decodeText = (bytes: Uint8Array): string =>
  wellFormed(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes))

export const byteLength = (text: string): number => Buffer.byteLength(text, 'utf8')

/** The longest beginning of at most `bytes` UTF-8 bytes that does not cut a character. */
export function headOf(text: string, bytes: number): string {
  if (text.length * 3 <= bytes) return text
  const { read } = utf8.encodeInto(text, new Uint8Array(Math.max(0, bytes)))
  return text.slice(0, read)
}

/** The longest end of at most `bytes` UTF-8 bytes that does not cut a character. */
export function tailOf(text: string, bytes: number): string {
  if (text.length * 3 <= bytes) return text
  let from = text.length
  for (let size = 0; from > 0; ) {
    const pair = from > 1 && /[\udc00-\udfff]/.test(text[from - 1] as string)
    const start = from - (pair ? 2 : 1)
    size += byteLength(text.slice(start, from))
    if (size > bytes) break
    from = start
  }
  return text.slice(from)
}

/**
 * Truncates text to about `bytes` UTF-8 bytes: its head and tail, and a note with the sizes between them. Short text
 * stays whole. Cuts at a line end if there is one nearby. `hint` returns how to see the rest, given the shown head.
 */
export function headAndTail(text: string, bytes: number, hint: (head: string) => string): string {
  const size = byteLength(text)
  return size <= bytes ? text : endsOf(text, text, size, bytes, hint)
}

/** {@link headAndTail} of a text of `size` bytes that is too long, given its first and its last `bytes` bytes. */
export function endsOf(
  first: string,
  last: string,
  size: number,
  bytes: number,
  hint: (head: string) => string,
): string {
  const head = toLineEnd(headOf(first, Math.floor((bytes * 2) / 3)))
  const tail = fromLineStart(tailOf(last, Math.floor(bytes / 3)))
  const left = size - byteLength(head) - byteLength(tail)
  return `${head}\n[… ${left} of ${size} bytes left out; ${hint(head)} …]\n${tail}`
}

const NEARBY = 2_000

function toLineEnd(head: string): string {
  const at = head.lastIndexOf('\n')
  return at >= 0 && head.length - at <= NEARBY ? head.slice(0, at) : head
}

function fromLineStart(tail: string): string {
  const at = tail.indexOf('\n')
  return at >= 0 && at <= NEARBY ? tail.slice(at + 1) : tail
}
