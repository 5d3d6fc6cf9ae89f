import type { AskView } from '../../app/schemas/approvals.ts'
import { Foreign } from '../parts/text.tsx'
import { AgentWay } from './agent-way.tsx'
import { ApprovalCard } from './approval-card.tsx'
import { DoubtCard } from './doubt-card.tsx'
import { InputForm } from './input-form.tsx'

/** One thing that a person is asked. `keys`: the keys `a`, `r` are for it. */
export function AskCard({ ask, keys }: { ask: AskView; keys: boolean }) {
  const { toolCallId } = ask
  if (ask.for === 'approval' && toolCallId !== null)
    return <ApprovalCard key={toolCallId} toolCallId={toolCallId} runId={ask.runId} keys={keys} />
  if (ask.for === 'doubt' && toolCallId !== null) return <DoubtCard ask={ask} toolCallId={toolCallId} />
  return (
    <article class="ask">
      <h2>{ask.text === '' ? 'The agent waits to be told its task' : 'The agent asks'}</h2>
      {ask.text !== '' && (
        <p>
          <Foreign text={ask.text} />
        </p>
      )}
      <p class="quiet">
        by <AgentWay runId={ask.runId} path={ask.agentPath} />
      </p>
      <InputForm runId={ask.runId} agentId={ask.agentId} label="Answer" />
    </article>
  )
}
