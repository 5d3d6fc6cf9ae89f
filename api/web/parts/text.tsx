import { number } from './format.ts'
import { shown } from './shown.ts'

/** The most characters of a text that the page shows at once (UTF-16 code units). */
export const SCREENFUL = 20_000

/** Untrusted text as a text node, isolated from the text direction around it. */
export function Foreign({ text, most = SCREENFUL }: { text: string; most?: number }) {
  const part = text.length > most ? text.slice(0, most) : text
  return (
    <bdi class="foreign">
      {shown(part)}
      {part.length < text.length && <span class="quiet"> … {number(text.length - part.length)} more</span>}
    </bdi>
  )
}
