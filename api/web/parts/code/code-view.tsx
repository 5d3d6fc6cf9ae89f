import { number } from '../format.ts'
import { shown } from '../shown.ts'
import { SCREENFUL } from '../text.tsx'
import type { CodePiece } from './highlight.ts'
import { useCodeColours } from './use-highlight.ts'

interface CodeViewProps {
  readonly text: string
  /** Gives the language of the colours. */
  readonly path: string
  /** The number of the first line. */
  readonly first?: number
}

/** The text of a file with line numbers and the colours of its language. */
export function CodeView({ text, path, first = 1 }: CodeViewProps) {
  const part = text.slice(0, SCREENFUL)
  const colours = useCodeColours(part, path)
  const lines = part.replace(/\n$/, '').split('\n')
  return (
    // Keyboard users must be able to focus a scrollable box.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
    <section class="code mono" tabIndex={0} aria-label={`Text of ${shown(path)}`}>
      {lines.map((line, i) => (
        <div key={i} class="code-line">
          <span class="quiet number" aria-hidden="true">
            {first + i}
          </span>
          <span class="code-text" dir="auto">
            <CodeLine text={line} pieces={colours[i]} />
          </span>
        </div>
      ))}
      {part.length < text.length && <p class="quiet">… {number(text.length - part.length)} more characters</p>}
    </section>
  )
}

/** A line of code. `pieces` absent: without colours. */
export function CodeLine({ text, pieces }: { text: string; pieces: readonly CodePiece[] | undefined }) {
  if (pieces === undefined || text === '') return <>{shown(text) || ' '}</>
  return (
    <>
      {pieces.map(({ text: piece, kind }, i) =>
        kind === '' ? (
          shown(piece)
        ) : (
          <span key={i} class={kind}>
            {shown(piece)}
          </span>
        ),
      )}
    </>
  )
}
