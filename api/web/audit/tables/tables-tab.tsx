import { useEffect, useState } from 'preact/hooks'
import { take } from '../../../http/answers.ts'
import { api, errorText } from '../../client/api.ts'
import { listen } from '../../client/feed.ts'
import { DataTable } from '../../parts/data-table.tsx'
import { countText, instant } from '../../parts/format.ts'
import { Loaded, useLoaded } from '../../parts/loaded.tsx'
import { shown } from '../../parts/shown.ts'
import { Throttle } from '../../parts/throttle.ts'

/** The shortest time between two updates while the log grows, in ms. */
const PAUSE = 2_000
/** The greatest count of outstanding events that is exact. */
const MOST_COUNTED = 10_000

/** The progress of the tables, the events that they cannot read, and the commands to rebuild them. */
export function TablesTab() {
  const [round, setRound] = useState(0)
  const again = () => setRound((n) => n + 1)
  useEffect(() => {
    const throttle = new Throttle(again, PAUSE)
    const leave = listen({ event: () => throttle.request(), connected: () => throttle.request() })
    return () => {
      leave()
      throttle.stop()
    }
  }, [])
  const found = useLoaded('projections', () => take(api.v1.projections.$get({})), round)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
    <div class="scroll" tabIndex={0}>
      <Loaded of={found}>
        {({ position, head, behind, parked, orphans, restoring }) => (
          <>
            <dl class="facts">
              {position !== null && position === head && parked.length === 0 ? (
                <>
                  <dt>tables show</dt>
                  <dd>
                    all of the log, up to <span class="mono">{position}</span>
                  </dd>
                </>
              ) : (
                <>
                  <dt>tables show</dt>
                  <dd class="mono">{position ?? 'nothing yet'}</dd>
                  <dt>log ends at</dt>
                  <dd class="mono">{head ?? 'nothing yet'}</dd>
                </>
              )}
              <dt>lag</dt>
              <dd>
                {behind === 0
                  ? 'none'
                  : `${countText(behind, 'event')}${behind === MOST_COUNTED ? ' or more' : ''} when asked`}
                {position === head ? '; by now the tables show all of the log' : ''}
              </dd>
              <dt>parked streams</dt>
              <dd>{parked.length === 0 ? 'none: the tables read every stream' : parked.length}</dd>
            </dl>
            {parked.length > 0 && <Parked parked={parked} again={again} />}
            <Amiss
              title="Agents that no process drives: their parents have lost their births"
              runs={orphans.map(({ runId, agentId }) => ({ runId, agentId, text: agentId }))}
            />
            <Amiss
              title="Restores of files that have not ended: if their process is gone, files may be half put back"
              runs={restoring.map(({ runId, agentId, step, requestedAt }) => {
                const what = step === null ? 'a version' : `step ${step}`
                return { runId, agentId, text: `${runId}: ${what}, asked for ${instant(requestedAt)}` }
              })}
            />
          </>
        )}
      </Loaded>
      <Rebuild again={again} />
    </div>
  )
}

interface AmissProps {
  readonly title: string
  readonly runs: readonly { readonly runId: string; readonly agentId: string; readonly text: string }[]
}

/** Agents with a problem that a person must look at. */
function Amiss({ title, runs }: AmissProps) {
  if (runs.length === 0) return null
  return (
    <>
      <h2>{title}</h2>
      <ul class="files">
        {runs.map(({ runId, agentId, text }) => (
          <li key={agentId}>
            <a href={`/runs/${runId}${agentId === runId ? '' : `?agent=${agentId}`}`}>{shown(text)}</a>
          </li>
        ))}
      </ul>
    </>
  )
}

type Projections = Awaited<ReturnType<typeof projections>>
const projections = () => take(api.v1.projections.$get({}))

function Parked({ parked, again }: { parked: Projections['parked']; again: () => void }) {
  const [said, setSaid] = useState('')
  const release = async () => {
    try {
      const { released } = await take(api.v1.projections.release.$post({ json: { all: true } }))
      setSaid(`${countText(released, 'stream')} released`)
    } catch (error) {
      setSaid(errorText(error))
    }
    again()
  }
  return (
    <>
      <DataTable
        label="Parked streams"
        columns={[
          {
            name: 'stream',
            show: (cell) => (
              <a href={`/audit?tab=log&stream=${encodeURIComponent(String(cell))}`}>{shown(String(cell))}</a>
            ),
          },
          { name: 'revision' },
          { name: 'code' },
          { name: 'error' },
        ]}
        rows={parked.map((one) => [one.stream, one.revision, one.code, one.error])}
      />
      <p class="row">
        <button type="button" onClick={() => void release()}>
          Read them again
        </button>
        <span role="status">{shown(said)}</span>
      </p>
    </>
  )
}

type Rebuilt = { readonly ok: boolean; readonly text: string; readonly differences: readonly string[] }

function Rebuild({ again }: { again: () => void }) {
  const [asked, setAsked] = useState(false)
  const [works, setWorks] = useState(false)
  const [said, setSaid] = useState<Rebuilt | null>(null)
  const rebuild = async () => {
    setAsked(false)
    setWorks(true)
    try {
      const { events, equal, switched, differences } = await take(
        api.v1.projections.rebuild.$post({ json: { accept: false } }),
      )
      const verdict = equal === null ? 'there was nothing to compare with' : equal ? 'they are equal' : 'they differ'
      const use = switched
        ? 'The new ones are in use'
        : 'The old ones stay in use: keepup rebuild --accept takes the new ones'
      setSaid({
        ok: equal !== false,
        text: `Made anew from ${countText(events, 'event')}: ${verdict}. ${use}.`,
        differences,
      })
    } catch (error) {
      setSaid({ ok: false, text: errorText(error), differences: [] })
    }
    setWorks(false)
    again()
  }
  return (
    <>
      <h2>Make the tables anew</h2>
      <p class="quiet">
        New tables are computed from the log beside the present ones and compared with them. Readers do not wait; where
        both are equal, the new ones take their place.
      </p>
      <p class="row">
        {asked ? (
          <>
            <button type="button" class="main" onClick={() => void rebuild()}>
              Yes, read the whole log again
            </button>
            <button type="button" onClick={() => setAsked(false)}>
              No
            </button>
          </>
        ) : (
          <button type="button" disabled={works} onClick={() => setAsked(true)}>
            {works ? 'Rebuilding …' : 'Rebuild'}
          </button>
        )}
      </p>
      {said !== null && (
        <div role="status">
          <p class={said.ok ? 'good' : 'bad'}>{shown(said.text)}</p>
          {said.differences.map((one) => (
            <p key={one} class="bad">
              {shown(one)}
            </p>
          ))}
        </div>
      )}
    </>
  )
}
