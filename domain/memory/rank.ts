import { wordsOf } from './words.ts'

/** The maximum number of words in a query. Further words are ignored. */
export const QUERY_WORDS = 16

/** A query word of at least this length also matches longer words that begin with it. */
export const PREFIX = 3

/** The distinct words of a query. */
export const queryWords = (query: string): string[] => [...new Set(wordsOf(query))].slice(0, QUERY_WORDS)

/** The BM25 constants: saturation of repeated words, and weight of the length. */
const [K1, B] = [1.2, 0.75]

/**
 * Sorts candidates by BM25, with word frequencies among the candidates. Candidates with all words of the query come
 * first. After a tie, the later candidate comes first. `words`: the indexed words. The function is pure, so every
 * database gives the same order.
 */
export function ranked<T extends { readonly words: string; readonly started: number }>(
  candidates: readonly T[],
  query: readonly string[],
): T[] {
  const held = candidates.map((candidate) => ({ candidate, words: candidate.words.split(' ') }))
  const hits = held.map(({ words }) => query.map((word) => words.filter((one) => matches(one, word)).length))
  const average = held.reduce((sum, { words }) => sum + words.length, 0) / Math.max(1, held.length)
  const weight = query.map((_, at) => {
    const having = hits.filter((counts) => counts[at]! > 0).length
    return Math.log(1 + (held.length - having + 0.5) / (having + 0.5))
  })
  return held
    .map(({ candidate, words }, nth) => {
      const length = K1 * (1 - B + (B * words.length) / average)
      const counts = hits[nth]!
      const score = counts.reduce((sum, count, at) => sum + (weight[at]! * count * (K1 + 1)) / (count + length), 0)
      return { candidate, score, whole: counts.every((count) => count > 0) }
    })
    .sort((a, b) => Number(b.whole) - Number(a.whole) || b.score - a.score || b.candidate.started - a.candidate.started)
    .map(({ candidate }) => candidate)
}

const matches = (word: string, asked: string): boolean =>
  asked.length >= PREFIX ? word.startsWith(asked) : word === asked
