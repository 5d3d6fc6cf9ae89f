import { beginningOfShape, lastWordOf } from './known-secret-shapes.ts'
import type { KnownTexts } from './known-values.ts'
import type { Piece } from './pieces.ts'
import { joinSpans, type Span } from './spans.ts'

/** Redacts texts that are shown one by one, including a secret that continues from one text to the next. */
export interface RedactedTexts {
  /**
   * The texts that are safe to show now. The last one belongs to `text` and may be empty. Texts are never joined: a
   * held-back end is a text of its own, and so is the reference of a secret that spans texts.
   */
  push(text: string): string[]
  /** The texts that were held back. If their secret continues in a later text, that text is redacted too. */
  end(): string[]
  /** The references made since the last call. */
  taken(): ReadonlyMap<string, string>
}

export interface TextsOptions {
  readonly known: KnownTexts
  /** True: patterns are searched. They match within a line, so the last line is held back. */
  readonly lines: boolean
  pieces(text: string): Piece[]
  refer(secret: string, made: Map<string, string>): string
}

/** Maximum length of shown text that is kept, in characters: preceding text, such as a scheme, identifies a secret. */
const CONTEXT = 512
/** A longer text is searched again only after it has grown by a quarter, which keeps the time linear. In characters. */
const LITTLE = 4_096
/** The longest line that is held back for patterns, in characters. */
const MAX_HELD_LINE = 4_096
/** Minimum length of a held-back shape, in characters. The mark of a shape is not secret. */
const LEAST_SHAPE = 4

/** Whether to hold back the beginning of a secret. Ordinary texts often end with its first few characters. */
const isHeld = (length: number, whole: number): boolean => length >= Math.min(4, Math.ceil(whole / 3))
/** Whether the beginning of a known secret is long enough to hide when another event interrupts the text. */
const isMost = (length: number, whole: number): boolean => length >= Math.max(8, whole * 0.75)

/** Linear in the texts. Holds back only a possible beginning of a secret (seed 000, 5.12.5; seed 002, live events). */
export function redactedTexts(options: TextsOptions): RedactedTexts {
  let made = new Map<string, string>()
  let context = ''
  let held = ''
  /** Offsets in `held` at which texts begin. */
  let starts: number[] = []
  let lookAt = 0

  /** Shows the text up to `until`. Keeps the text from `begun`, because a secret may begin there. */
  const release = (all: string, secrets: readonly Span[], begun: number, until: number): string[] => {
    const base = context.length
    // Show a whole secret as one reference, even if it ends after `until`.
    const to = secrets.reduce((end, one) => (one.start < end && one.end > end ? one.end : end), until)
    const shown = new ShownTexts(starts.map((start) => base + start))
    let at = base
    for (const { start, end } of secrets) {
      if (end <= at || start >= to) continue
      const begin = Math.max(start, at)
      shown.plain(all, at, begin)
      shown.secret(options.refer(all.slice(begin, end), made), begin, end)
      at = end
    }
    shown.plain(all, at, to)
    // A secret at the end may continue in the next text, and so may a private key before its last line.
    const last = secrets.find(({ end }) => end >= Math.min(begun, to) && end <= to)
    const kept = Math.max(to - CONTEXT, lastWordOf(all.slice(0, to)))
    context = all.slice(Math.max(0, Math.min(kept, begun, last?.start ?? to)), to)
    held = all.slice(to)
    starts = starts.map((start) => base + start - to).filter((start) => start > 0)
    const total = context.length + held.length
    lookAt = total > LITTLE ? held.length + total / 4 : 0
    return shown.texts(to)
  }

  return {
    push(text) {
      starts.push(held.length)
      held += text
      if (held.length < lookAt) return ['']
      const all = context + held
      const begun = all.length - text.length
      const { shape, hold } = openAt(options, all, begun)
      return release(all, secretsIn(options, all, begun), shape, Math.max(context.length, hold))
    },
    end() {
      if (held === '') return []
      const all = context + held
      const cut = all.length - options.known.begun(all, isMost)
      const cutOff = cut < all.length ? [{ start: cut, end: all.length }] : []
      const secrets = joinSpans([...secretSpans(options.pieces(all)), ...cutOff])
      const { shape, hold } = openAt(options, all, all.length)
      return release(all, secrets, Math.min(shape, hold), all.length).filter((text) => text !== '')
    },
    taken() {
      const all = made
      made = new Map()
      return all
    },
  }
}

/** The shown parts of texts, each within its own text. Offsets refer to the joined text. */
class ShownTexts {
  readonly #starts: readonly number[]
  readonly #texts: string[] = []
  #open = ''
  #next = 0

  constructor(starts: readonly number[]) {
    this.#starts = starts
  }

  plain(all: string, from: number, to: number): void {
    let at = from
    this.#beginAt(at)
    for (let start = this.#starts[this.#next]; start !== undefined && start < to; start = this.#starts[this.#next]) {
      this.#open += all.slice(at, start)
      at = start
      this.#beginAt(at)
    }
    this.#open += all.slice(at, to)
  }

  secret(reference: string, from: number, to: number): void {
    this.#beginAt(from)
    const spans = (this.#starts[this.#next] ?? to) < to
    if (!spans) {
      this.#open += reference
      return
    }
    this.#beginAt(to - 1)
    this.#texts.push(reference)
  }

  /** The last text is the open one. It is empty when the last text begins after `to`. */
  texts(to: number): string[] {
    this.#beginAt(to)
    if (this.#next < this.#starts.length) this.#close()
    return [...this.#texts, this.#open]
  }

  #beginAt(at: number): void {
    for (; (this.#starts[this.#next] ?? Number.POSITIVE_INFINITY) <= at; this.#next++) this.#close()
  }

  #close(): void {
    if (this.#open !== '') this.#texts.push(this.#open)
    this.#open = ''
  }
}

/** `begun`: the offset of the last text. A token at its start is found even after a word in the text before. */
function secretsIn({ pieces }: TextsOptions, all: string, begun: number): Span[] {
  const secrets = secretSpans(pieces(all))
  if (!isWithinWord(all, begun)) return secrets
  const own = secretSpans(pieces(all.slice(begun))).map(({ start, end }) => ({
    start: begun + start,
    end: begun + end,
  }))
  return joinSpans([...secrets, ...own].sort((a, b) => a.end - b.end))
}

/**
 * `shape`: the offset at which the end of the text begins a shape. `hold`: the offset from which text is held back.
 * Both equal the length of the text when there is nothing.
 */
function openAt({ known, lines }: TextsOptions, all: string, begun: number): { shape: number; hold: number } {
  const { length } = all
  let shape = beginningOfShape(all)
  if (isWithinWord(all, begun)) shape = Math.min(shape, begun + beginningOfShape(all.slice(begun)))
  const hold = Math.min(length - known.begun(all, isHeld), length - shape < LEAST_SHAPE ? length : shape)
  const line = all.lastIndexOf('\n') + 1
  return { shape, hold: lines && length - line <= MAX_HELD_LINE ? Math.min(hold, line) : hold }
}

const isWithinWord = (all: string, at: number): boolean => at > 0 && at < all.length && /[\w-]/.test(all[at - 1]!)

function secretSpans(pieces: readonly Piece[]): Span[] {
  const found: Span[] = []
  let at = 0
  for (const { text, secret } of pieces) {
    if (secret) found.push({ start: at, end: at + text.length })
    at += text.length
  }
  return found
}
