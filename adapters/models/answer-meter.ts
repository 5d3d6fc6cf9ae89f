import {
  keptArguments,
  MAX_ANSWER_BYTES,
  MAX_ARGUMENT_BYTES,
  MAX_BLOCKS,
  MAX_CALLS,
} from '../../domain/calls/answer-bounds.ts'
import type { Cut } from '../../domain/calls/model-call.ts'

/** Thrown when an answer reaches a bound. The part before the bound is the answer; the rest is not read. */
export class BoundReached extends Error {
  readonly cut: Cut

  constructor(cut: Cut) {
    super(`the answer was cut off at a bound: ${cut}`)
    this.cut = cut
  }
}

/** Measures an answer while it streams in. Each method throws {@link BoundReached} at its bound. */
export class Meter {
  /** UTF-8 bytes of content so far. */
  bytes = 0
  private most = MAX_ANSWER_BYTES
  private calls = 0
  private blocks = 0

  /**
   * Removes the bound of bytes for an answer in one document: it is already in memory, and the runtime truncates its
   * content.
   */
  wholeDocument(): void {
    this.most = Number.POSITIVE_INFINITY
  }

  /** Counts more content: a text, or a number of bytes. */
  take(more: string | number): void {
    this.bytes += typeof more === 'number' ? more : Buffer.byteLength(more)
    if (this.bytes > this.most) throw new BoundReached('bytes')
  }

  call(): void {
    if (++this.calls > MAX_CALLS) throw new BoundReached('calls')
  }

  block(): void {
    if (++this.blocks > MAX_BLOCKS) throw new BoundReached('blocks')
  }
}

/** The arguments of one call as they stream in. Drops text beyond the bound. */
export class ArgumentText {
  private text = ''
  private bytes = 0

  take(piece: string): void {
    if (this.bytes > MAX_ARGUMENT_BYTES) return
    this.text += keptArguments(piece)
    this.bytes += Buffer.byteLength(piece)
  }

  get whole(): string {
    return keptArguments(this.text)
  }
}
