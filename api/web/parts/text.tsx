import { number } from './format.ts'
import { shown } from './shown.ts'

/** The most characters of a text that the page shows at once (UTF-16 code units). */
export const SCREENFUL = 20_000

interface ForeignProps {
  readonly text: string
  readonly most?: number
  /** A part of a paragraph, which has its direction from the whole paragraph. */
  readonly part?: boolean
}

/** Untrusted text as a text node, isolated from the text direction around it. */
export function Foreign({ text, most = SCREENFUL, part: isPart = false }: ForeignProps) {
  const Element = isPart ? 'span' : 'bdi'
  const part = text.length > most ? text.slice(0, most) : text
  return (
    <Element class="foreign">
      {shown(part)}
      {part.length < text.length && <span class="quiet"> … {number(text.length - part.length)} more</span>}
    </Element>
  )
}
