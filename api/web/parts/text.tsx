import { visible } from '../../app/text/visible-text.ts'

/** Escape sequences of terminals: they colour text there, and would only be noise here. */
const ANSI = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g

/** Text of models, tools and people as it may be shown: nothing in it is hidden, and nothing turns its direction. */
export const shown = (text: string): string => visible(text.replace(ANSI, ''))

/** Of a text, this much is put on a screen at a time; UTF-16 code units. */
export const SCREENFUL = 20_000

/** Foreign text, as a text node in a box of its own direction. */
export function Foreign({ text, most = SCREENFUL }: { text: string; most?: number }) {
  const part = text.length > most ? text.slice(0, most) : text
  return (
    <bdi class="foreign">
      {shown(part)}
      {part.length < text.length && (
        <span class="quiet"> … {(text.length - part.length).toLocaleString('en')} more</span>
      )}
    </bdi>
  )
}
