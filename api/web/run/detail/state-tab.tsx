import { dollars } from '../../../cli/output/units.ts'
import { setQuery } from '../../page/router.ts'
import { JsonView } from '../../parts/json-view.tsx'
import { shown } from '../../parts/shown.ts'
import type { Brief } from '../state-cache.ts'
import type { DetailProps } from './detail-props.ts'

/** The agent as it was after the event at the position, folded by the server. */
export function StateTab({ runId, states }: DetailProps) {
  const state = states.current.value
  if (state === null) return <p class="quiet">loading …</p>
  const { usage, machineState, paused, gatesPassed, error, pendingToolCalls, completedToolResults } = state
  return (
    <>
      <h2>After event {state.revision}</h2>
      <dl class="facts">
        <dt>state</dt>
        <dd>
          {machineState}
          {paused && ', paused'}
        </dd>
        <dt>turn, step</dt>
        <dd>
          {state.turn}, {state.step}
        </dd>
        <dt>phase</dt>
        <dd>
          <bdi>{shown(state.state.sopPhase || 'none')}</bdi>
        </dd>
        <dt>gates passed</dt>
        <dd>{gatesPassed.length === 0 ? 'none' : shown(gatesPassed.join(', '))}</dd>
        <dt>tokens</dt>
        <dd>
          {usage.inputTokens.toLocaleString('en')} in, {usage.outputTokens.toLocaleString('en')} out
        </dd>
        <dt>money</dt>
        <dd>{dollars(usage.nanoDollars)}</dd>
        {error !== null && (
          <>
            <dt>error</dt>
            <dd class="bad">
              {error.code}: <bdi>{shown(error.message)}</bdi>
            </dd>
          </>
        )}
      </dl>
      <Variables state={state} runId={runId} />
      <h3>Calls that have not ended</h3>
      {pendingToolCalls.length === 0 ? <p class="quiet">none</p> : <JsonView value={pendingToolCalls} />}
      <h3>Results of this turn</h3>
      {completedToolResults.length === 0 ? (
        <p class="quiet">none</p>
      ) : (
        <JsonView value={completedToolResults} open={false} />
      )}
      <h3>In force</h3>
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
            {writer !== undefined && (
              <button
                type="button"
                class="link"
                title={`Event ${writer.revision} wrote it`}
                onClick={() =>
                  setQuery({
                    agent: writer.agentId === runId ? null : writer.agentId,
                    at: String(writer.revision),
                    tab: null,
                  })
                }
              >
                Who wrote this?
              </button>
            )}
          </div>
        )
      })}
    </>
  )
}
