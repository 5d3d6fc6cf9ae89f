import { byteLength, endsOf } from '../../../domain/calls/truncate.ts'

/** Keeps the beginning and the end of a text that arrives in parts, and counts its size. */
export class TextEnds {
  /** The size of the text so far, in UTF-8 bytes. */
  size = 0
  readonly #most: number
  #first = ''
  #last = ''

  /** `most`: the longest text to show whole, in UTF-8 bytes. */
  constructor(most: number) {
    this.#most = most
  }

  push(part: string): void {
    this.size += byteLength(part)
    // A character has at least one byte.
    if (this.#first.length <= this.#most) this.#first += part.slice(0, this.#most + 1 - this.#first.length)
    this.#last = (this.#last + part.slice(-this.#most)).slice(-this.#most)
  }

  /**
   * The whole text, or its head and tail. `hint` describes how to see the rest, given the number of the first line
   * after the head.
   */
  shown(hint: (next: number) => string): string {
    if (this.size <= this.#most) return this.#first
    const next = (head: string) => head.split('\n').length + (this.#first.startsWith(`${head}\n`) ? 1 : 0)
    return endsOf(this.#first, this.#last, this.size, this.#most, (head) => hint(next(head)))
  }
}

/** Keeps the beginning of a range of lines of a text that arrives in parts. Counts all lines. */
export class LineWindow {
  /** The first line of the range. */
  readonly first: TextEnds
  readonly #from: number
  readonly #to: number
  readonly #most: number
  #line = 1
  #open = false
  #kept = ''

  /** Lines count from 1. `to`: the last line of the range. `most`: the longest kept text, in UTF-8 bytes. */
  constructor(from: number, to: number, most: number) {
    this.#from = from
    this.#to = to
    this.#most = most
    this.first = new TextEnds(most)
  }

  push(part: string): void {
    for (let at = 0; at < part.length; ) {
      const feed = part.indexOf('\n', at)
      const end = feed < 0 ? part.length : feed
      if (this.#line === this.#from) this.first.push(part.slice(at, end))
      if (this.#line >= this.#from && this.#line <= this.#to && this.#kept.length <= this.#most)
        this.#kept += part.slice(at, end + 1)
      if (feed >= 0) this.#line++
      this.#open = feed < 0
      at = end + 1
    }
  }

  /** The number of lines of the text. An empty text has one line. */
  get total(): number {
    return this.#open || this.#line === 1 ? this.#line : this.#line - 1
  }

  /** The lines of the range that fit. */
  get lines(): string[] {
    const wanted = this.#kept.split('\n').slice(0, Math.min(this.total, this.#to) - this.#from + 1)
    let size = 0
    const end = wanted.findIndex((line) => {
      size += byteLength(line) + 1
      return size > this.#most
    })
    return end < 0 ? wanted : wanted.slice(0, end)
  }
}
