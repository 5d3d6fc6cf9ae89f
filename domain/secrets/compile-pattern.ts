import { RE2JS, RE2JSException } from 're2js'
import { echo } from '../log/issues.ts'
import type { Span } from './spans.ts'

/** The engine refuses a pattern. The message says what to change. */
export class PatternError extends Error {
  override readonly name = 'PatternError'
}

/**
 * The longest match, in UTF-16 units. The engine is linear for one search, but each match begins another search that may
 * read to the end of the text; a bounded window keeps all searches together linear.
 */
export const MAX_MATCH = 1_024

/** The maximum size of a compiled program, in instructions. Memory and time per character grow with it. */
const MAX_PROGRAM = 5_000

/**
 * Compiles a regular expression to a search in linear time. The syntax is RE2's; JavaScript's escapes and named groups
 * are translated. The search returns non-empty matches from left to right, each at most {@link MAX_MATCH} units long;
 * over `most` matches it returns one span of the whole text. Throws {@link PatternError} for look-around,
 * back-references, and repetitions that compile to too large a program.
 */
export function compilePattern(source: string): (text: string, most?: number) => Span[] {
  const pattern = compiled(source)
  return (text, most = Number.POSITIVE_INFINITY) => (pattern.test(text) ? matches(pattern, text, most) : [])
}

function compiled(source: string): RE2JS {
  let pattern: RE2JS
  try {
    pattern = RE2JS.compile(RE2JS.translateRegExp(source))
  } catch (cause) {
    if (!(cause instanceof RE2JSException)) throw cause
    throw new PatternError(
      `pattern ${JSON.stringify(echo(source))}: ${cause.message}; use RE2 syntax, without look-around and back-references`,
      { cause },
    )
  }
  if (pattern.programSize() > MAX_PROGRAM)
    throw new PatternError(`pattern ${JSON.stringify(echo(source))} is too large; repeat less`)
  return pattern
}

/** Searches window by window. Each window starts with one unit of context for `^` and `\b`. */
function matches(pattern: RE2JS, text: string, most: number): Span[] {
  const found: Span[] = []
  for (let from = 0; from < text.length; ) {
    if (found.length > most) return [{ start: 0, end: text.length }]
    const context = from === 0 ? 0 : 1
    const base = from - context
    const window = text.slice(base, from + 2 * MAX_MATCH)
    const last = base + window.length === text.length
    const next = last ? text.length : from + MAX_MATCH
    from = Math.max(next, pattern.test(window) ? matchesIn(pattern, window, context, base, next, found) : 0)
  }
  return found
}

/** Adds the matches that begin before `until`. Returns the end of the last one. */
function matchesIn(pattern: RE2JS, window: string, at: number, base: number, until: number, found: Span[]): number {
  const matcher = pattern.matcher(window)
  let end = 0
  for (let next = at; next <= window.length && matcher.find(next); ) {
    const start = matcher.start()
    if (base + start >= until) break
    const length = Math.min(matcher.end() - start, MAX_MATCH)
    next = start + Math.max(length, 1)
    if (length === 0) continue
    end = base + start + length
    found.push({ start: base + start, end })
  }
  return end
}
