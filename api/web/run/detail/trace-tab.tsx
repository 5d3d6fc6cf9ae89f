import { useEffect, useState } from 'preact/hooks'
import { take } from '../../../http/answers.ts'
import type { Trace } from '../../../operations/trace/schemas.ts'
import { api } from '../../client/api.ts'
import { query, setQuery } from '../../page/router.ts'
import { countText, instant, number } from '../../parts/format.ts'
import { Loaded, useLoaded } from '../../parts/loaded.tsx'
import { ProofButton } from '../../parts/proof-button.tsx'
import { shown } from '../../parts/shown.ts'
import { Foreign } from '../../parts/text.tsx'
import type { DetailProps } from './detail-props.ts'

/** The texts shown at first, and the most that one answer has. */
const [FEW, MOST] = [20, 500]

type Query = Record<string, string>

/** The chain of authority of the event at the position or of a line of a file, with the texts that the model read. */
export function TraceTab({ runId, agent, place }: DetailProps) {
  agent.events.version.value
  useEffect(() => agent.events.want('detail', [place]), [agent, place])
  const [file, line] = [query.value.get('file'), query.value.get('line')]
  const stream = agent.events.get(place)?.stream
  if (file !== null && line !== null) {
    const step = agent.outline.steps[place] ?? 0
    const of = { file, line, run: runId, agent: agent.agentId, step: String(step) }
    return (
      <>
        <h2>
          Line {line} of <bdi>{shown(file)}</bdi>
        </h2>
        <button type="button" class="link" onClick={() => setQuery({ line: null })}>
          the event instead
        </button>
        <Chain key={JSON.stringify(of)} of={of} />
      </>
    )
  }
  if (stream === undefined) return <p class="quiet">loading …</p>
  return (
    <>
      <h2>Where event {place} came from</h2>
      <Chain key={`${stream}@${place}`} of={{ event: `${stream}@${place}` }} />
    </>
  )
}

function Chain({ of }: { of: Query }) {
  const [limit, setLimit] = useState(FEW)
  const [only, setOnly] = useState(false)
  const asked: Query = { ...of, limit: String(limit), ...(only && { untrusted: 'true' }) }
  const found = useLoaded(JSON.stringify(asked), () => take(api.v1.trace.$get({ query: asked })))
  return (
    <Loaded of={found}>
      {({ steps, person, missing, others, texts }) => (
        <>
          <ol class="trace">
            {steps.map((step) => (
              <li key={`${step.kind} ${step.stream}@${step.revision} ${step.text}`}>
                <span class="badge">{step.kind}</span> <bdi>{shown(step.text)}</bdi> <At of={step} />
                {step.erased && <span class="quiet"> erased</span>}
                {step.quote !== undefined && (
                  <pre>
                    <Foreign text={step.quote} />
                  </pre>
                )}
              </li>
            ))}
          </ol>
          <p class={person === null ? 'bad' : ''}>
            {person === null ? (
              missing
            ) : (
              <>
                On the authority of <bdi>{shown(person.id)}</bdi>
                {person.claimed && ', as the request said'}
              </>
            )}
          </p>
          {others.length > 0 && <p class="quiet">May have written it too: {others.join(', ')}</p>}
          <Texts texts={texts} only={only} onOnly={setOnly} onMore={limit < MOST ? () => setLimit(MOST) : null} />
        </>
      )}
    </Loaded>
  )
}

interface TextsProps {
  readonly texts: Trace['texts']
  readonly only: boolean
  readonly onOnly: (only: boolean) => void
  /** Null: no answer has more. */
  readonly onMore: (() => void) | null
}

function Texts({ texts: { total, untrusted, more, newest }, only, onOnly, onMore }: TextsProps) {
  if (total === 0) return null
  return (
    <>
      <h3>
        The model had read {countText(total, 'text')} before, {number(untrusted)} untrusted
      </h3>
      {untrusted > 0 && (
        <label>
          <input type="checkbox" checked={only} onChange={() => onOnly(!only)} /> only untrusted ones
        </label>
      )}
      <ul class="trace">
        {newest.map((text) => (
          <li key={`${text.stream}@${text.revision} ${text.from}`} class={text.untrusted ? 'untrusted' : ''}>
            {text.untrusted && <span class="bad">untrusted </span>}
            <bdi>{shown(text.from)}</bdi> <span class="quiet">{text.source}</span> <At of={text} />
            {text.erased ? (
              <span class="quiet"> erased</span>
            ) : (
              <pre>
                <Foreign text={text.head} />
              </pre>
            )}
          </li>
        ))}
      </ul>
      {more > 0 &&
        (onMore === null ? (
          <p class="quiet">{more} older ones are not listed.</p>
        ) : (
          <button type="button" class="link" onClick={onMore}>
            {more} more
          </button>
        ))}
    </>
  )
}

type Place = Pick<Trace['steps'][number], 'runId' | 'stream' | 'revision' | 'at'>

/** An event with its proof. An event of an agent leads to its place in the run. */
function At({ of: { runId, stream, revision, at } }: { of: Place }) {
  const [, agentId] = /^(?:agent|external)-(.+)$/.exec(stream) ?? []
  const agent = agentId === runId || agentId === undefined ? '' : `agent=${agentId}&`
  const name = `${stream.slice(0, 18)}${stream.length > 18 ? '…' : ''}@${revision}`
  return (
    <span class="mono">
      {runId === undefined || agentId === undefined ? (
        <span title={`${stream}@${revision}`}>{name}</span>
      ) : (
        <a href={`/runs/${runId}?${agent}at=${revision}`} title={`${stream}@${revision}, ${instant(at)}`}>
          {name}
        </a>
      )}{' '}
      <ProofButton stream={stream} revision={revision} />
    </span>
  )
}
