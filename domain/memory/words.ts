import { hash } from 'node:crypto'
import type { Place } from './fact.ts'

/** A longer word is cut: what people and models search for is shorter. */
const LONGEST = 40

/** Scripts without spaces between words: each character is a word. */
const SINGLE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u
const WORD = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}]+/gu

/**
 * The words of a text as the index holds them: without case and accents. SQLite and PostgreSQL are given these, not the
 * text, so that both find the same facts.
 */
export function wordsOf(text: string): string[] {
  const plain = text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
  return (plain.match(WORD) ?? []).flatMap((run) => (SINGLE.test(run) && run.length > 1 ? split(run) : [cut(run)]))
}

const cut = (word: string): string => [...word].slice(0, LONGEST).join('')

/** Letters that stand beside characters of a script without spaces are words of their own. */
const split = (run: string): string[] =>
  run
    .split(/([\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])/u)
    .filter((part) => part !== '')
    .map(cut)

/**
 * The word that every fact of a place has, and no text: {@link wordsOf} never gives the first character. With it a search
 * reads the facts of its places only.
 */
export const placeWord = ({ scope, place }: Place): string => `@${hash('sha256', `${scope}\n${place}`).slice(0, 16)}`
