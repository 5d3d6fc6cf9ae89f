import { wellFormed } from '../../domain/log/well-formed.ts'

/** What is kept of the beginning and of the end of a stream, each. In bytes. */
const KEPT_BYTES = 256 * 1024

export interface Capture {
  /** Bytes that came, kept or not. */
  readonly size: number
  add(chunk: Buffer): void
  /** Well-formed text: all of it, or head and tail with a note of what is missing. */
  text(): string
}

/** Keeps the head and the tail of a stream in bounded memory. `onText` gets everything, as it comes. */
export function capture(onText?: (text: string) => void): Capture {
  const head: Buffer[] = []
  let headSize = 0
  let tail: Buffer[] = []
  let tailSize = 0
  let size = 0
  const live = new TextDecoder('utf-8', { ignoreBOM: true })
  return {
    get size() {
      return size
    },
    add(chunk) {
      size += chunk.length
      const text = onText ? wellFormed(live.decode(chunk, { stream: true })) : ''
      if (text !== '') onText?.(text)
      const forHead = chunk.subarray(0, KEPT_BYTES - headSize)
      if (forHead.length > 0) head.push(forHead)
      headSize += forHead.length
      const rest = chunk.subarray(forHead.length)
      if (rest.length === 0) return
      tail.push(rest)
      tailSize += rest.length
      // In bulk, so that many small chunks cost no more than a few large ones.
      if (tailSize > 4 * KEPT_BYTES) {
        tail = [Buffer.concat(tail).subarray(-KEPT_BYTES)]
        tailSize = KEPT_BYTES
      }
    },
    text() {
      const first = Buffer.concat(head)
      const last = Buffer.concat(tail).subarray(-KEPT_BYTES)
      const left = size - first.length - last.length
      if (left === 0)
        return wellFormed(new TextDecoder('utf-8', { ignoreBOM: true }).decode(Buffer.concat([first, last])))
      // `stream` leaves out a character that the cut went through.
      const begin = wellFormed(new TextDecoder('utf-8', { ignoreBOM: true }).decode(first, { stream: true }))
      let from = 0
      while (from < 3 && ((last[from] ?? 0) & 0xc0) === 0x80) from++
      const end = wellFormed(new TextDecoder('utf-8', { ignoreBOM: true }).decode(last.subarray(from)))
      return `${begin}\n[… ${left} of ${size} bytes left out …]\n${end}`
    },
  }
}
