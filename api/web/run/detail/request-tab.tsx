import { useState } from 'preact/hooks'
import { take } from '../../../http/answers.ts'
import { api } from '../../client/api.ts'
import { JsonView } from '../../parts/code/json-view.tsx'
import { Loaded, useLoaded } from '../../parts/loaded.tsx'
import { shown } from '../../parts/shown.ts'
import type { DetailProps } from './detail-props.ts'
import { RequestChat } from './request-chat.tsx'

/** The model request of the turn at the position, reconstructed from the log and checked against its hash. */
export function RequestTab({ runId, agent, place }: DetailProps) {
  const turn = agent.outline.turns[place] ?? 0
  if (turn === 0) return <p class="quiet">No model was asked before the first turn.</p>
  return <Requests key={turn} runId={runId} agentId={agent.agentId} turn={turn} />
}

function Requests({ runId, agentId, turn }: { runId: string; agentId: string; turn: number }) {
  const [isRaw, setRaw] = useState(false)
  const requestsOf = (turn: number) =>
    take(
      api.v1.runs[':id'].turns[':turn'].request.$get({
        param: { id: runId, turn: String(turn) },
        query: { agent: agentId },
      }),
    )
  const found = useLoaded(`${agentId} ${turn}`, async () => {
    // The previous turn identifies the new messages. It may be unreadable, or without a model call.
    const before = turn === 1 ? null : await requestsOf(turn - 1).catch(() => null)
    return { ...(await requestsOf(turn)), before: before?.requests.at(-1)?.messages ?? [] }
  })
  return (
    <>
      <h2>What the model saw in turn {turn}</h2>
      <label>
        <input type="checkbox" checked={isRaw} onChange={() => setRaw(!isRaw)} /> as sent (JSON)
      </label>
      <Loaded of={found}>
        {({ requests, before }) => (
          <>
            {requests.map((request) => (
              <div key={request.attempt}>
                <h3>
                  Attempt {request.attempt}: <bdi>{shown(request.model)}</bdi> of <bdi>{shown(request.provider)}</bdi>
                </h3>
                <p class="quiet" title={request.checked.inputs}>
                  ✓ Its inputs have the recorded hash.
                </p>
                {isRaw ? <JsonView value={request.body} /> : <RequestChat request={request} before={before} />}
              </div>
            ))}
          </>
        )}
      </Loaded>
    </>
  )
}
