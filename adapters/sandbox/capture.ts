import { wellFormed } from '../../domain/log/well-formed.ts'
import type { TextFilter } from '../../domain/ports.ts'

/** What is kept of the beginning and of the end of a stream, each. In bytes. */
const KEPT_BYTES = 256 * 1024

export interface Capture {
  /** Bytes that came, kept or not. */
  readonly size: number
  add(chunk: Buffer): void
  /** Ends it. Well-formed text: all of it, or head and tail with a note of what is missing. */
  text(): string
}

/**
 * Keeps the head and the tail of a stream in bounded memory. `onText` gets everything, as it comes. Nothing is cut before
 * it has gone through the filter: what is secret as a whole is not told by its part.
 */
export function capture(onText?: (text: string) => void, filter?: TextFilter): Capture {
  const kept = headAndTail()
  let size = 0
  const live = new TextDecoder('utf-8', { ignoreBOM: true })
  const give = (text: string) => {
    if (text === '') return
    kept.add(Buffer.from(text, 'utf8'))
    onText?.(text)
  }
  const through = (text: string) => (filter ? filter.push(text) : text)
  return {
    get size() {
      return size
    },
    add(chunk) {
      size += chunk.length
      give(through(wellFormed(live.decode(chunk, { stream: true }))))
    },
    text() {
      give(through(wellFormed(live.decode())))
      give(filter?.end() ?? '')
      return kept.text()
    },
  }
}

/** Of UTF-8 that comes in whole characters. */
function headAndTail() {
  const head: Buffer[] = []
  let headSize = 0
  let tail: Buffer[] = []
  let tailSize = 0
  let size = 0
  return {
    add(chunk: Buffer) {
      size += chunk.length
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
    text(): string {
      const first = Buffer.concat(head)
      const last = Buffer.concat(tail).subarray(-KEPT_BYTES)
      const left = size - first.length - last.length
      if (left === 0) return Buffer.concat([first, last]).toString('utf8')
      // `stream` leaves out a character that the cut went through.
      const begin = new TextDecoder('utf-8', { ignoreBOM: true }).decode(first, { stream: true })
      let from = 0
      while (from < 3 && ((last[from] ?? 0) & 0xc0) === 0x80) from++
      const end = last.subarray(from).toString('utf8')
      return `${begin}\n[… ${left} of ${size} bytes left out …]\n${end}`
    },
  }
}
