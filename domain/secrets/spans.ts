/** A half-open range of UTF-16 units. Lists of spans are in order and do not overlap. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** Joins spans that overlap (not spans that only touch). Input: sorted by end. Linear. */
export function joinSpans(byEnd: Iterable<Span>): Span[] {
  const joined: Span[] = []
  for (const span of byEnd) {
    let start = span.start
    for (let last = joined.at(-1); last && last.end > start; last = joined.at(-1)) {
      start = Math.min(start, last.start)
      joined.pop()
    }
    joined.push({ start, end: span.end })
  }
  return joined
}
