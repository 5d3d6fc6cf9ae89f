import type { KnownTexts } from './known-values.ts'
import { REFERENCE } from './reference.ts'
import { joinSpans, type Span } from './spans.ts'

/** A replacement may create another match at its border. No sane pattern needs more rounds than this. */
const MAX_ROUNDS = 4

export const REFERENCE_BEGINS = 'secret:ku_'

/** Finds secrets by their shape; over `most` of them, returns one span of the whole text. */
export type Guess = (text: string, most: number) => Span[]
export type Piece = { readonly text: string; readonly secret: boolean }

/**
 * Splits a text into plain and secret pieces. References and known values are found first; the guessers search the
 * rest. A part between two references with more than `most` secrets becomes one secret.
 */
export function pieces(text: string, known: KnownTexts, guessers: readonly Guess[], most: number): Piece[] {
  const out: Piece[] = []
  for (const part of cut(text, references(text))) {
    if (part.secret) {
      out.push({ text: part.text, secret: false })
      continue
    }
    const found: Piece[] = []
    for (const piece of cut(part.text, known.find(part.text, most))) {
      if (found.length <= 2 * most) guess(piece, guessers, MAX_ROUNDS, found, most)
    }
    if (found.length > 2 * most) out.push({ text: part.text, secret: true })
    else for (const piece of found) out.push(piece)
  }
  return out
}

function guess(piece: Piece, guessers: readonly Guess[], rounds: number, out: Piece[], most: number): void {
  if (piece.secret || rounds === 0 || piece.text === '') {
    out.push(piece)
    return
  }
  const spans = guessers.flatMap((find) => find(piece.text, most)).sort((a, b) => a.end - b.end)
  if (spans.length === 0) out.push(piece)
  else for (const part of cut(piece.text, joinSpans(spans))) guess(part, guessers, rounds - 1, out, most)
}

function cut(text: string, spans: readonly Span[]): Piece[] {
  if (spans.length === 0) return [{ text, secret: false }]
  const out: Piece[] = []
  let at = 0
  for (const { start, end } of spans) {
    if (start > at) out.push({ text: text.slice(at, start), secret: false })
    out.push({ text: text.slice(start, end), secret: true })
    at = end
  }
  if (at < text.length) out.push({ text: text.slice(at), secret: false })
  return out
}

export const references = (text: string): Span[] =>
  text.includes(REFERENCE_BEGINS) ? [...text.matchAll(REFERENCE)].map(spanOf) : []

const spanOf = (match: RegExpExecArray): Span => ({ start: match.index, end: match.index + match[0].length })
