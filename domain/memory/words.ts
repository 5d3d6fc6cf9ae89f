import { hash } from 'node:crypto'
import type { FactOwner } from '../calls/memory/request.ts'

/** The maximum length of a word in the index. Longer words are cut, because queries are shorter. */
const LONGEST = 40

/** Scripts without spaces between words. Each character is one word. */
const SINGLE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u
const WORD = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}]+/gu

/**
 * The words of a text in the index, without case and accents. SQLite and PostgreSQL index these words, not the text, so
 * both find the same facts.
 */
export function wordsOf(text: string): string[] {
  const plain = text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
  return (plain.match(WORD) ?? []).flatMap((run) => (SINGLE.test(run) && run.length > 1 ? split(run) : [cut(run)]))
}

const cut = (word: string): string => [...word].slice(0, LONGEST).join('')

/** Splits letters from adjacent characters of a script without spaces. */
const split = (run: string): string[] =>
  run
    .split(/([\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])/u)
    .filter((part) => part !== '')
    .map(cut)

/**
 * A word that every fact of a place contains. {@link wordsOf} never returns a word that starts with `@`. With this word
 * a search reads only the facts of its places.
 */
export const placeWord = ({ scope, place }: FactOwner): string =>
  `@${hash('sha256', `${scope}\n${place}`).slice(0, 16)}`
