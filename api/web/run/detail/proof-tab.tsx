import { useEffect, useState } from 'preact/hooks'
import { take } from '../../../http/answers.ts'
import { api } from '../../client/api.ts'
import { countText } from '../../parts/format.ts'
import { Loaded, useLoaded } from '../../parts/loaded.tsx'
import { shown } from '../../parts/shown.ts'
import type { DetailProps } from './detail-props.ts'

/** The event's place in the hash chain, and the proof of the run. */
export function ProofTab({ runId, agent, place }: DetailProps) {
  agent.events.version.value
  useEffect(() => agent.events.want('detail', [place]), [agent, place])
  const event = agent.events.get(place)
  const [asked, setAsked] = useState(0)
  return (
    <>
      <h2>Event {place} in its chain</h2>
      {event === undefined ? (
        <p class="quiet">loading …</p>
      ) : (
        <dl class="facts">
          <dt>hash</dt>
          <dd class="mono">{event.hash}</dd>
          <dt>id</dt>
          <dd class="mono">{event.id}</dd>
          <dt>stream</dt>
          <dd class="mono">
            {event.stream}@{event.revision}
          </dd>
          <dt>caused by</dt>
          <dd class="mono">{event.causationId ?? 'nothing in this log'}</dd>
          <dt>body</dt>
          <dd>{event.altered ? 'altered: not the sealed one' : event.erased ? 'erased' : 'as it was sealed'}</dd>
        </dl>
      )}
      <button type="button" onClick={() => setAsked(asked + 1)}>
        Verify the run
      </button>
      {asked > 0 && <Verdict key={asked} runId={runId} />}
    </>
  )
}

function Verdict({ runId }: { runId: string }) {
  const found = useLoaded(runId, () => take(api.v1.runs[':id'].verify.$get({ param: { id: runId }, query: {} })))
  return (
    <Loaded of={found}>
      {({ ok, agents }) => (
        <div role="status">
          <p class={ok ? 'good' : 'bad'}>{ok ? '✓ The proof holds.' : '✗ The proof is broken.'}</p>
          {agents.map(({ agentId, events, digests, problems, erased }) => (
            <div key={agentId}>
              <p>
                <span class="mono">{agentId}</span>: {countText(events, 'event')} chained, {countText(digests, 'state')}{' '}
                folded again and equal{erased.length > 0 && `, ${countText(erased.length, 'body')} erased`}
              </p>
              {problems.map(({ revision, code, message }) => (
                <p key={`${revision}${code}`} class="bad">
                  #{revision} {code}: <bdi>{shown(message)}</bdi>
                </p>
              ))}
            </div>
          ))}
        </div>
      )}
    </Loaded>
  )
}
