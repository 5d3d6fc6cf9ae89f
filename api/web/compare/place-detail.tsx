import { shown } from '../parts/shown.ts'
import { type ComparedPoint, placeName } from './compared.ts'
import { ValueDiff } from './value-diff.tsx'

const WORDS = { asked: 'what was asked', answered: 'what was answered', decided: 'what was decided' } as const

/** One place of two runs: its position in each run, and the differences. */
export function PlaceDetail({ a, b, place }: { a: string; b: string; place: ComparedPoint }) {
  return (
    <section class="pane detail" aria-label="Place">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
      <div class="scroll" tabIndex={0}>
        <h2>
          <bdi>{shown(placeName(place))}</bdi>
        </h2>
        <p class="quiet">
          {WORDS[place.kind]}: <Side name="first run" runId={a} said={place.a} />,{' '}
          <Side name="second run" runId={b} said={place.b} />
        </p>
        {place.same ? (
          <p class="good">The same in both.</p>
        ) : (
          <ValueDiff key={placeName(place)} a={place.a?.value} b={place.b?.value} />
        )}
      </div>
    </section>
  )
}

function Side({ name, runId, said }: { name: string; runId: string; said: ComparedPoint['a'] }) {
  if (said === null) return <>not in the {name}</>
  const agent = said.agentId === runId ? '' : `&agent=${said.agentId}`
  return (
    <a href={`/runs/${runId}?at=${said.revision}${agent}`}>
      {name} #{said.revision}
    </a>
  )
}
