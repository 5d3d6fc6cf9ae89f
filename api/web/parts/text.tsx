import { shown } from './shown.ts'

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
