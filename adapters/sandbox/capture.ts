import { KeptText } from '../../domain/agent/kept-text.ts'
import { wellFormed } from '../../domain/log/well-formed.ts'
import type { TextFilter } from '../../domain/ports.ts'

/** What a tool is shown of a stream: this much of its beginning and of its end together. In bytes. */
const SHOWN_BYTES = 512 * 1024

export interface Capture {
  /** Bytes that came, kept or not. */
  readonly size: number
  add(chunk: Buffer): void
  /** Ends it. `text`: all of it, or head and tail with a note of what is missing, well formed. */
  end(): Captured
}

/** `pieces`: all that was kept, as well-formed UTF-8, where `text` is only a part of it. */
export interface Captured {
  readonly text: string
  readonly pieces?: readonly Uint8Array[]
}

/**
 * Keeps a stream up to 64 MiB, beyond that its head and tail. `onText` gets everything, as it comes. Nothing is cut before
 * it has gone through the filter: what is secret as a whole is not told by its part.
 */
export function capture(onText?: (text: string) => void, filter?: TextFilter): Capture {
  const kept = new KeptText()
  let size = 0
  const live = new TextDecoder('utf-8', { ignoreBOM: true })
  const give = (text: string) => {
    if (text === '') return
    kept.add(text)
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
    end() {
      give(through(wellFormed(live.decode())))
      give(filter?.end() ?? '')
      const text = kept.text(SHOWN_BYTES)
      return kept.size <= SHOWN_BYTES ? { text } : { text, pieces: kept.pieces() }
    },
  }
}
