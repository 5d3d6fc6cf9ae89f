import { useState } from 'preact/hooks'
import { useKeys } from '../page/keyboard-shortcuts.ts'
import { query, setQuery } from '../page/router.ts'
import { countText, number } from '../parts/format.ts'
import { Loaded, useLoaded } from '../parts/loaded.tsx'
import { shown } from '../parts/shown.ts'
import { VirtualList } from '../parts/virtual-list.tsx'
import { type Compared, compare, nextDifference, placeName, signOf } from './compared.ts'
import { PlaceDetail } from './place-detail.tsx'
import { RunsSummary } from './runs-summary.tsx'

const ROW = 24
const TONES: Readonly<Record<string, string>> = { '+': 'added', '-': 'removed', '±': 'bad', '=': 'quiet' }

/** Two runs, aligned by cause: the same turn, the same call, the same child. */
export function RunsCompared({ a, b }: { a: string; b: string }) {
  const found = useLoaded(`${a} ${b}`, () => compare(a, b))
  return (
    <>
      <RunsSummary a={a} b={b} />
      <Loaded of={found}>{(compared) => <Beside compared={compared} />}</Loaded>
    </>
  )
}

function Beside({ compared }: { compared: Compared }) {
  const { a, b, places, total, first } = compared
  const differing = places.filter(({ same }) => !same).length
  const [all, setAll] = useState(false)
  const rows = all ? places.map((_, i) => i) : places.flatMap(({ same }, i) => (same ? [] : [i]))
  const asked = Number(query.value.get('place') ?? Number.NaN)
  const at = Number.isInteger(asked) && places[asked] !== undefined ? asked : nextDifference(places, -1, 1)
  const choose = (index: number) => index >= 0 && setQuery({ place: String(index) })
  useKeys({
    j: () => choose(nextDifference(places, at, 1)),
    k: () => choose(nextDifference(places, at, -1)),
  })
  if (first === null)
    return <p class="good">The two runs are the same in all {total} things that were asked, answered and decided.</p>
  const place = places[at]
  return (
    <>
      <p class="about" role="status">
        <strong>{countText(differing, 'difference')}</strong>, the first at “{shown(placeName(first))}”;{' '}
        {number(places.length - differing)} are the same.
        {places.length < total && ` Only the first ${number(places.length)} of ${number(total)} are shown.`}{' '}
        <Step label="First difference" to={nextDifference(places, -1, 1)} onStep={choose} />
        <Step label="Previous (k)" to={nextDifference(places, at, -1)} onStep={choose} />
        <Step label="Next (j)" to={nextDifference(places, at, 1)} onStep={choose} />{' '}
        <label>
          <input type="checkbox" checked={all} onChange={() => setAll(!all)} /> also what is the same
        </label>
      </p>
      <div class="panes two">
        <div class="pane">
          <VirtualList
            label="What was asked, answered and decided"
            count={rows.length}
            rowHeight={ROW}
            at={rows.indexOf(at)}
            row={(index) => {
              const nth = rows[index]!
              const one = places[nth]!
              const sign = signOf(one)
              return (
                <button
                  type="button"
                  class="event plain place-row"
                  aria-current={nth === at || undefined}
                  onClick={() => choose(nth)}
                >
                  <span class={`mono ${TONES[sign]}`}>{sign}</span>
                  <span>
                    <bdi>{shown(placeName(one))}</bdi>
                  </span>
                  <span class="quiet">{one.kind}</span>
                </button>
              )
            }}
          />
        </div>
        {place !== undefined && <PlaceDetail a={a} b={b} place={place} />}
      </div>
    </>
  )
}

interface StepProps {
  readonly label: string
  /** The place to go to. -1: none. */
  readonly to: number
  readonly onStep: (to: number) => void
}

const Step = ({ label, to, onStep }: StepProps) => (
  <button type="button" disabled={to < 0} onClick={() => onStep(to)}>
    {label}
  </button>
)
