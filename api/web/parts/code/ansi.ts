import { type Color, createAnsiSequenceParser } from 'ansi-sequence-parser'
import { ANSI, shown } from '../shown.ts'

/** A part of terminal output in one style. `style`: class names of the style sheet; empty: plain text. */
export interface AnsiPiece {
  readonly text: string
  readonly style: string
}

const COLOUR = /^\u001b\[[0-9;]*m$/
const ESCAPE = new RegExp(`${ANSI.source}|\\u001b`, 'g')
/** The carriage return of a line end, also if a colour ends between the two characters. */
const RETURN = /\r(?=(?:\u001b\[[0-9;]*m)*\n)/g
const STYLES = ['bold', 'dim', 'italic', 'underline'] as const

/** Terminal output with its colours. Other control sequences are removed. */
export const ansiPieces = (text: string): AnsiPiece[] =>
  createAnsiSequenceParser()
    .parse(coloursOf(text))
    .map(({ value, foreground, decorations }) => ({
      text: shown(value),
      style: [...STYLES.filter((name) => decorations.has(name)), ...colourOf(foreground)]
        .map((name) => `ansi-${name}`)
        .join(' '),
    }))

/** Leaves only the sequences that set colours. The parser would drop text after any other escape character. */
const coloursOf = (text: string): string =>
  text
    .replace(ESCAPE, (found) => (COLOUR.test(found) ? found : found === '\u001b' ? '‹U+001B›' : ''))
    .replace(RETURN, '')

/** A bright colour looks like its dark one, and colours outside the 16 named ones like plain text. */
const colourOf = (colour: Color | null): string[] =>
  colour?.type === 'named' ? [colour.name.replace(/^bright/, '').toLowerCase()] : []
