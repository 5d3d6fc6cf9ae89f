import type { AskView } from '../../operations/approvals/schemas.ts'
import { Foreign } from '../parts/text.tsx'
import { AgentWay } from './agent-way.tsx'
import { ApprovalCard } from './approval-card.tsx'
import { DoubtCard } from './doubt-card.tsx'
import { InputForm } from './input-form.tsx'

interface AskCardProps {
  readonly ask: AskView
  /** The keys `a` and `r` act on this card. */
  readonly keys: boolean
  /** Passes the keys to the next question after the decision. */
  readonly next?: () => void
}

/** A question to a person. */
export function AskCard({ ask, keys, next }: AskCardProps) {
  const { toolCallId } = ask
  if (ask.for === 'approval' && toolCallId !== null)
    return <ApprovalCard key={toolCallId} toolCallId={toolCallId} runId={ask.runId} keys={keys} next={next} />
  if (ask.for === 'doubt' && toolCallId !== null)
    return <DoubtCard key={toolCallId} ask={ask} toolCallId={toolCallId} />
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
      <InputForm runId={ask.runId} agentId={ask.agentId} toolCallId={toolCallId} label="Answer" />
    </article>
  )
}
