import { byteLength, endsOf } from '../../../domain/calls/bounded.ts'

/** The ends of a text that comes in parts, and its size; the rest of it is not kept. */
export class TextEnds {
  /** In UTF-8 bytes. */
  size = 0
  readonly #most: number
  #first = ''
  #last = ''

  /** `most`: of a text that is shown whole. In UTF-8 bytes. */
  constructor(most: number) {
    this.#most = most
  }

  push(part: string): void {
    this.size += byteLength(part)
    // A character of a string has at least one byte.
    if (this.#first.length <= this.#most) this.#first += part.slice(0, this.#most + 1 - this.#first.length)
    this.#last = (this.#last + part.slice(-this.#most)).slice(-this.#most)
  }

  /** The text, or its head and tail. `hint` says how to see the rest, given the head and the first line after it. */
  shown(hint: (next: number) => string): string {
    if (this.size <= this.#most) return this.#first
    const next = (head: string) => head.split('\n').length + (this.#first.startsWith(`${head}\n`) ? 1 : 0)
    return endsOf(this.#first, this.#last, this.size, this.#most, (head) => hint(next(head)))
  }
}

/** Some lines of a text that comes in parts: counts all lines, and keeps the beginning of those that are asked for. */
export class LineWindow {
  /** The first line that is asked for. */
  readonly first: TextEnds
  readonly #from: number
  readonly #to: number
  readonly #most: number
  #line = 1
  #open = false
  #kept = ''

  /** Lines count from 1. `to` is the last line that is asked for. `most`: of the kept text, in UTF-8 bytes. */
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

  /** The number of lines of the text. An empty text has one. */
  get total(): number {
    return this.#open || this.#line === 1 ? this.#line : this.#line - 1
  }

  /** The lines that are asked for and fit. */
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
