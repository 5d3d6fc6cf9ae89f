import type { Detail } from '../run/run-model.ts'
import { AskCard } from './ask-card.tsx'
import { Outcome } from './outcome.tsx'

/** What a run asks people, and how the last command ended. */
export function RunAsks({ detail }: { detail: Detail }) {
  return (
    <>
      <Outcome />
      {detail.asks.length > 0 && (
        <div class="run-asks">
          {detail.asks.map((ask) => (
            <AskCard key={`${ask.for}${ask.agentId}${ask.toolCallId}`} ask={ask} keys={ask === detail.asks[0]} />
          ))}
        </div>
      )}
    </>
  )
}
