import { toWellFormedText } from './wellformed.ts'

/** The size from which collected pieces are passed on, in characters. */
const PIECE = 4_096

/**
 * Passes on streamed text in well-formed pieces. Joins a surrogate pair that two chunks split, and joins the small
 * pieces of one chunk.
 */
export class TextFeed {
  private readonly sink: ((text: string) => void) | undefined
  private held = ''

  constructor(sink: ((text: string) => void) | undefined) {
    this.sink = sink
  }

  take(text: string): void {
    if (this.sink === undefined) return
    this.held += text
    if (this.held.length >= PIECE) this.flush()
  }

  flush(): void {
    const all = this.held
    this.held = /[\ud800-\udbff]$/.test(all) ? all.slice(-1) : ''
    const ready = this.held === '' ? all : all.slice(0, -1)
    if (ready !== '') this.sink?.(toWellFormedText(ready))
  }
}
