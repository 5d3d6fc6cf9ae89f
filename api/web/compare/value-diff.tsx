import { useMemo, useState } from 'preact/hooks'
import type { Json } from '../../../domain/log/json.ts'
import { differences } from '../../operations/history/difference.ts'
import { JsonView } from '../parts/code/json-view.tsx'
import { PatchView } from '../parts/code/patch-view.tsx'
import { asText, textDiff } from '../parts/code/text-diff.ts'
import { shown } from '../parts/shown.ts'

const MOST = 200
/** Longer texts, and texts of several lines, are compared line by line. In characters. */
const LINE = 120

const isLong = (value: unknown) => typeof value === 'string' && (value.length > LINE || value.includes('\n'))
const isTree = (value: unknown) => typeof value === 'object' && value !== null

/** Compares two values by member, or as lines of text. Undefined: the side has no value. */
export function ValueDiff({ a, b, label = 'Difference' }: { a: unknown; b: unknown; label?: string }) {
  const [asLines, setLines] = useState(typeof a === 'string' && typeof b === 'string' && (isLong(a) || isLong(b)))
  return (
    <>
      {(isTree(a) || isTree(b)) && (
        <p>
          <label>
            <input type="checkbox" checked={asLines} onChange={() => setLines(!asLines)} /> as text
          </label>
        </p>
      )}
      {asLines ? <Lines a={a} b={b} label={label} /> : <Members a={a} b={b} />}
    </>
  )
}

function Lines({ a, b, label }: { a: unknown; b: unknown; label: string }) {
  const patch = useMemo(() => textDiff(a === undefined ? '' : asText(a), b === undefined ? '' : asText(b)), [a, b])
  if (patch === null)
    return (
      <>
        <p class="quiet">The two are too long, or differ too much, to be compared line by line.</p>
        <Sides a={a} b={b} />
      </>
    )
  return patch === '' ? <p class="quiet">no difference</p> : <PatchView patch={patch} label={label} />
}

/** The members in which two values differ. */
function Members({ a, b }: { a: unknown; b: unknown }) {
  const [most, setMost] = useState(MOST)
  const found = useMemo(() => differences(a as Json | undefined, b as Json | undefined), [a, b])
  if (found.length === 0) return <p class="quiet">no difference</p>
  return (
    <>
      {found.slice(0, most).map((one) => (
        <div key={one.path} class="difference">
          {one.path !== '' && <code>{shown(one.path)}</code>}
          <Sides a={one.a} b={one.b} />
        </div>
      ))}
      {found.length > most && (
        <button type="button" class="link" onClick={() => setMost(most * 10)}>
          {found.length - most} more
        </button>
      )}
    </>
  )
}

export const Sides = ({ a, b }: { a: unknown; b: unknown }) => (
  <>
    {a !== undefined && (
      <div class="removed">
        <JsonView value={a} open={false} />
      </div>
    )}
    {b !== undefined && (
      <div class="added">
        <JsonView value={b} open={false} />
      </div>
    )}
  </>
)
