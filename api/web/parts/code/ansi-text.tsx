import { number } from '../format.ts'
import { SCREENFUL } from '../text.tsx'
import { ansiPieces } from './ansi.ts'

/** Terminal output with its colours. */
export function AnsiText({ text }: { text: string }) {
  const part = text.slice(0, SCREENFUL)
  return (
    <pre class="ansi">
      <bdi class="foreign">
        {ansiPieces(part).map(({ text, style }, i) =>
          style === '' ? (
            text
          ) : (
            <span key={i} class={style}>
              {text}
            </span>
          ),
        )}
      </bdi>
      {part.length < text.length && <span class="quiet"> … {number(text.length - part.length)} more</span>}
    </pre>
  )
}
