import { KeptText } from '../../domain/calls/kept-text.ts'
import { wellFormed } from '../../domain/log/well-formed.ts'
import type { TextFilter } from '../../domain/ports/index.ts'

/** The longest text of a stream for a tool: beginning and end together, in bytes. */
const SHOWN_BYTES = 512 * 1024

export interface Capture {
  /** All received bytes, including dropped ones. */
  readonly size: number
  add(chunk: Buffer): void
  /** Ends the capture. `text`: the whole text, or head and tail with a note about the missing part. Well formed. */
  end(): Captured
}

/** `pieces`: all kept bytes as well-formed UTF-8, if `text` is only a part. */
export interface Captured {
  readonly text: string
  readonly pieces?: readonly Uint8Array[]
}

/**
 * Keeps a stream up to 64 MiB, and the head and tail of a longer stream. `onText` gets all text as it arrives. The
 * filter runs before any truncation, so that no part of a secret is shown.
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
