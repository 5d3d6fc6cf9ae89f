import { take } from '../../../http/answers.ts'
import { api } from '../../client/api.ts'
import { JsonView } from '../../parts/json-view.tsx'
import { Loaded, useLoaded } from '../../parts/loaded.tsx'
import { shown } from '../../parts/shown.ts'
import type { DetailProps } from './detail-props.ts'

/** The model request of the turn at the position, reconstructed from the log and checked against its hash. */
export function RequestTab({ runId, agent, place }: DetailProps) {
  const turn = agent.outline.turns[place] ?? 0
  if (turn === 0) return <p class="quiet">No model was asked before the first turn.</p>
  return <Requests runId={runId} agentId={agent.agentId} turn={turn} />
}

function Requests({ runId, agentId, turn }: { runId: string; agentId: string; turn: number }) {
  const found = useLoaded(`${agentId} ${turn}`, () =>
    take(
      api.v1.runs[':id'].turns[':turn'].request.$get({
        param: { id: runId, turn: String(turn) },
        query: { agent: agentId },
      }),
    ),
  )
  return (
    <>
      <h2>What the model got in turn {turn}</h2>
      <Loaded of={found}>
        {({ requests }) => (
          <>
            {requests.map(({ attempt, model, provider, body, checked }) => (
              <div key={attempt}>
                <h3>
                  Attempt {attempt}: <bdi>{shown(model)}</bdi> of <bdi>{shown(provider)}</bdi>
                </h3>
                <p class="quiet">
                  Its inputs have the recorded hash <code>{checked.inputs.slice(0, 16)}…</code>
                </p>
                <JsonView value={body} />
              </div>
            ))}
          </>
        )}
      </Loaded>
    </>
  )
}
