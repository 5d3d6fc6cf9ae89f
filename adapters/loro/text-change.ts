import { diffWordsWithSpace } from 'diff'
import type { Delta } from 'loro-crdt'
import { canonicalText } from '../../domain/log/canonical.ts'

export type TextDelta = readonly Delta<string>[]
type Attributes = NonNullable<TextDelta[number]['attributes']>
interface Piece {
  readonly length: number
  readonly attributes: Attributes
}

/** The longest difference to search for. Beyond it, the differing words are replaced as a whole. */
const MAX_EDIT_LENGTH = 500

/**
 * The smallest change from one rich text to another, so that concurrent edits of the same text merge. The change
 * retains equal words and sets only their differing marks. `keys`: the marks that the new text sets; other marks
 * remain.
 */
export function textChange(before: TextDelta, after: TextDelta, keys: readonly string[]): Delta<string>[] {
  const [old, wanted] = [new Cursor(before), new Cursor(after)]
  const change: Delta<string>[] = []
  for (const { kind, text } of differences(old.text, wanted.text)) {
    if (kind === 'delete') {
      change.push({ delete: text.length })
      old.skip(text.length)
    } else if (kind === 'insert') {
      for (const { length, attributes, at } of wanted.take(text.length))
        change.push({ insert: wanted.text.slice(at, at + length), attributes: { ...attributes } })
    } else {
      for (const piece of wanted.take(text.length))
        change.push(...remarked(old.take(piece.length), piece.attributes, keys))
    }
  }
  while (change.length > 0 && 'retain' in change.at(-1)! && change.at(-1)!.attributes === undefined) change.pop()
  return change
}

/**
 * The smallest change of a range, in UTF-16 units, to a plain text. Equal words keep their marks, and a new word has
 * the marks of the words that it replaces, or of the text before it.
 */
export function rangeChange(
  before: TextDelta,
  { start, end }: { readonly start: number; readonly end: number },
  wanted: string,
): Delta<string>[] {
  const old = new Cursor(before)
  let attributes = old.take(start).at(-1)?.attributes ?? {}
  const change: Delta<string>[] = start === 0 ? [] : [{ retain: start }]
  for (const { kind, text } of differences(old.text.slice(start, end), wanted)) {
    if (kind === 'insert') {
      change.push({ insert: text, attributes: { ...attributes } })
      continue
    }
    const pieces = old.take(text.length)
    attributes = (kind === 'delete' ? pieces[0] : pieces.at(-1))!.attributes
    change.push(kind === 'delete' ? { delete: text.length } : { retain: text.length })
  }
  return change
}

function remarked(olds: readonly Piece[], wanted: Attributes, keys: readonly string[]): Delta<string>[] {
  return olds.map(({ length, attributes }) => {
    const differing = keys.filter((key) => !equal(attributes[key], wanted[key]))
    if (differing.length === 0) return { retain: length }
    const set = Object.fromEntries(differing.map((key) => [key, wanted[key] ?? null]))
    return { retain: length, attributes: set }
  })
}

const equal = (a: unknown, b: unknown): boolean =>
  a === b || (a !== undefined && b !== undefined && canonicalText(a) === canonicalText(b))

interface Difference {
  readonly kind: 'retain' | 'insert' | 'delete'
  readonly text: string
}

/** The differences word by word. Within a replaced word, only the part between its common beginning and end differs. */
function differences(before: string, after: string): Difference[] {
  const words = diffWordsWithSpace(before, after, { maxEditLength: MAX_EDIT_LENGTH })
  if (words === undefined) return replacement(before, after)
  const found: Difference[] = []
  for (let i = 0; i < words.length; i++) {
    const { value, removed, added } = words[i]!
    const next = words[i + 1]
    if (removed && next?.added) {
      found.push(...replacement(value, next.value))
      i += 1
    } else found.push({ kind: removed ? 'delete' : added ? 'insert' : 'retain', text: value })
  }
  return found
}

function replacement(before: string, after: string): Difference[] {
  const shorter = Math.min(before.length, after.length)
  let head = 0
  while (head < shorter && before[head] === after[head]) head += 1
  if (splitsPair(before, head) || splitsPair(after, head)) head -= 1
  let tail = 0
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1
  if (splitsPair(before, before.length - tail) || splitsPair(after, after.length - tail)) tail -= 1
  const parts: Difference[] = [
    { kind: 'retain', text: before.slice(0, head) },
    { kind: 'delete', text: before.slice(head, before.length - tail) },
    { kind: 'insert', text: after.slice(head, after.length - tail) },
    { kind: 'retain', text: before.slice(before.length - tail) },
  ]
  return parts.filter(({ text }) => text !== '')
}

/** Whether a cut before this UTF-16 unit would split a surrogate pair. */
const splitsPair = (text: string, at: number): boolean =>
  at > 0 && at < text.length && text.charCodeAt(at) >= 0xdc00 && text.charCodeAt(at) <= 0xdfff

/** Reads a rich text piece by piece. Lengths are in UTF-16 units. */
class Cursor {
  readonly text: string
  readonly #pieces: Piece[]
  #index = 0
  #within = 0
  #at = 0

  constructor(delta: TextDelta) {
    this.#pieces = delta.map(({ insert = '', attributes = {} }) => ({ length: insert.length, attributes }))
    this.text = delta.map(({ insert = '' }) => insert).join('')
  }

  skip(length: number): void {
    this.take(length)
  }

  /** The next units, split at changes of the attributes. `at`: the start of each part. */
  take(length: number): (Piece & { readonly at: number })[] {
    const taken = []
    for (let left = length; left > 0; ) {
      const piece = this.#pieces[this.#index]!
      const part = Math.min(left, piece.length - this.#within)
      if (part > 0) taken.push({ length: part, attributes: piece.attributes, at: this.#at })
      this.#within += part
      this.#at += part
      left -= part
      if (this.#within < piece.length) continue
      this.#index += 1
      this.#within = 0
    }
    return taken
  }
}
