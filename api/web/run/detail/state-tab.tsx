import { JsonView } from '../../parts/code/json-view.tsx'
import { money, number } from '../../parts/format.ts'
import { shown } from '../../parts/shown.ts'
import type { Brief } from '../states-at-position.ts'
import { type Written, writerOf, writerOfCall } from '../writers.ts'
import type { DetailProps } from './detail-props.ts'
import { Tasks } from './tasks.tsx'
import { WhoWrote } from './who-wrote.tsx'

/** The agent's state after the event at the position. The server folds it. */
export function StateTab({ runId, agent, states }: DetailProps) {
  const state = states.current.value
  if (state === null) return <p class="quiet">loading …</p>
  const { usage, machineState, paused, gatesPassed, error, pendingToolCalls, completedToolResults } = state
  const { agentId, outline } = agent
  const at = (revision: number | null) => (revision === null ? null : { agentId, revision })
  const wrote = (what: Written) => (
    <WhoWrote runId={runId} writer={at(writerOf(outline, what, state.revision))} what={what} />
  )
  const wroteCall = (id: string) => (
    <WhoWrote runId={runId} writer={at(writerOfCall(outline, id, state.revision))} what={id} />
  )
  return (
    <>
      <h2>After event {state.revision}</h2>
      <dl class="facts">
        <dt>state</dt>
        <dd>
          {machineState}
          {paused && ', paused'} {paused && wrote('paused')}
        </dd>
        <dt>turn</dt>
        <dd>
          {state.turn} {wrote('turn')}
        </dd>
        <dt>step</dt>
        <dd>
          {state.step} {wrote('step')}
        </dd>
        <dt>phase</dt>
        <dd>
          <bdi>{shown(state.state.sopPhase || 'none')}</bdi> {wrote('phase')}
        </dd>
        <dt>gates passed</dt>
        <dd>
          {gatesPassed.length === 0 ? 'none' : shown(gatesPassed.join(', '))} {gatesPassed.length > 0 && wrote('gates')}
        </dd>
        <dt>tokens</dt>
        <dd>
          {number(usage.inputTokens)} in, {number(usage.outputTokens)} out
        </dd>
        <dt>money</dt>
        <dd>
          {money(usage.nanoDollars)} {wrote('money')}
        </dd>
        {error !== null && (
          <>
            <dt>error</dt>
            <dd class="bad">
              {error.code}: <bdi>{shown(error.message)}</bdi> {wrote('error')}
            </dd>
          </>
        )}
      </dl>
      <Tasks runId={runId} agent={agent} state={state} />
      <Variables state={state} runId={runId} />
      <h3>Calls that have not ended</h3>
      {pendingToolCalls.length === 0 && <p class="quiet">none</p>}
      {pendingToolCalls.map((call) => (
        <div key={call.id} class="variable">
          <JsonView name={call.name} value={call} /> {wroteCall(call.id)}
        </div>
      ))}
      <h3>Results of this turn</h3>
      {completedToolResults.length === 0 && <p class="quiet">none</p>}
      {completedToolResults.map((result) => (
        <div key={result.toolCallId} class="variable">
          <JsonView name={result.name} value={result} open={false} /> {wroteCall(result.toolCallId)}
        </div>
      ))}
      <Documents documents={state.documents} />
      <h3>In force {wrote('tools')}</h3>
      <JsonView value={state.spec} open={false} />
    </>
  )
}

function Variables({ state, runId }: { state: Brief; runId: string }) {
  const entries = Object.entries(state.state.contextVariables)
  return (
    <>
      <h3>Context variables</h3>
      {entries.length === 0 && <p class="quiet">none</p>}
      {entries.map(([name, value]) => {
        const writer = state.writers[name]
        return (
          <div key={name} class="variable">
            <JsonView name={name} value={value} open={false} />
            <WhoWrote runId={runId} writer={writer ?? null} what={name} />
          </div>
        )
      })}
    </>
  )
}

/** The documents in the agent's state. Each links to a page that shows the author of every word. */
function Documents({ documents }: { documents: Brief['documents'] }) {
  const ids = Object.keys(documents)
  if (ids.length === 0) return null
  return (
    <>
      <h3>Documents</h3>
      <ul class="files">
        {ids.map((id) => (
          <li key={id}>
            <span class="mono">{id}</span> <span class="quiet mono">at {documents[id]}</span>{' '}
            <a href={`/documents/${id}?tab=writers`}>Who wrote this?</a>
          </li>
        ))}
      </ul>
    </>
  )
}
