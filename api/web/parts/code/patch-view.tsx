import { useState } from 'preact/hooks'
import { number } from '../format.ts'
import { shown } from '../shown.ts'
import { CodeLine } from './code-view.tsx'
import type { CodePiece } from './highlight.ts'
import { kindsOf, type PatchLine } from './patch-lines.ts'
import { usePatchColours } from './use-highlight.ts'

const MOST = 500
const LINE = 2_000

/** A unified diff, line by line, in the colours of the files' languages. */
export function PatchView({ patch, label = 'Difference' }: { patch: string; label?: string }) {
  const [most, setMost] = useState(MOST)
  const lines = patch.replace(/\n$/, '').split('\n')
  const kinds = kindsOf(lines)
  const colours = usePatchColours(patch)
  const count = (kind: PatchLine) => kinds.filter((one) => one === kind).length
  return (
    <>
      <p class="patch-sum">
        <span class="good">+{number(count('added'))}</span> <span class="bad">−{number(count('removed'))}</span>{' '}
        <span class="quiet">lines</span>
      </p>
      {/* Keyboard users must be able to focus a scrollable box. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
      <section class="patch" tabIndex={0} aria-label={label}>
        {lines.slice(0, most).map((line, i) => (
          <div key={i} class={kinds[i]} dir="auto">
            <Line text={line} pieces={colours[i]} />
          </div>
        ))}
        {lines.length > most && (
          <button type="button" class="link" onClick={() => setMost(most * 4)}>
            {number(lines.length - most)} more lines
          </button>
        )}
      </section>
    </>
  )
}

/** `pieces`: of the text after the sign. */
function Line({ text, pieces }: { text: string; pieces: readonly CodePiece[] | undefined }) {
  const [whole, setWhole] = useState(false)
  if (whole || text.length <= LINE)
    return (
      <>
        {pieces !== undefined && text[0]}
        <CodeLine text={pieces === undefined ? text : text.slice(1)} pieces={pieces} />
      </>
    )
  return (
    <>
      {shown(text.slice(0, LINE))}{' '}
      <button type="button" class="link" onClick={() => setWhole(true)}>
        {number(text.length - LINE)} more characters
      </button>
    </>
  )
}
