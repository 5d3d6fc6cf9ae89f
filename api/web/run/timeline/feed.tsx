import { useState } from 'preact/hooks'
import type { RunTree } from '../../../operations/runs/schemas.ts'
import { VirtualList } from '../../parts/virtual-list.tsx'
import type { AgentModel } from '../agent-model.ts'
import { CallCard } from '../calls/call-card.tsx'
import { revisionsOf } from '../conversation.ts'
import { openEvent } from '../open-event.ts'
import { positionIn } from '../position.ts'
import { FeedCard } from './feed-card.tsx'
import { TurnCard } from './turn-card.tsx'
import { Writing } from './writing.tsx'

const GUESS = 60

interface FeedProps {
  readonly runId: string
  readonly tree: RunTree | null
  readonly agent: AgentModel
  readonly place: number
}

/**
 * The conversation view: the turns with the model's text, the calls on one line each, and the acts of people and of the runtime. The last card shows the text that the model is generating.
 */
export function ConversationFeed({ runId, tree, agent, place }: FeedProps) {
  const { events, outline } = agent
  const { rows } = outline.conversation
  // By its first revision: a call that a person has opened stays open while it is out of view.
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set())
  events.version.value
  const count = agent.length.value === 0 ? 0 : rows.length
  const writing = agent.writing.value
  const isEnd = positionIn(agent.length.value) === agent.length.value - 1
  const current = outline.conversation.rowAt(place)
  const toggle = (revision: number) => {
    const next = new Set(opened)
    if (!next.delete(revision)) next.add(revision)
    setOpened(next)
  }
  return (
    <VirtualList
      label="What was said and done"
      measured
      count={count + (writing === null ? 0 : 1)}
      rowHeight={GUESS}
      at={isEnd && writing !== null ? count : current}
      onRange={(first, last) => events.want('timeline', rows.slice(first, last + 1).flatMap(revisionsOf))}
      row={(index) => {
        const row = rows[index]
        if (row === undefined) return <Writing agent={agent} />
        const isCurrent = index === current
        if (row.kind === 'turn') return <TurnCard row={row} agent={agent} place={place} isCurrent={isCurrent} />
        const { revision } = row
        if (row.kind === 'call')
          return (
            <CallCard
              {...{ row, runId, tree, agent, place, isCurrent }}
              isOpen={opened.has(revision)}
              onToggle={() => toggle(revision)}
            />
          )
        return (
          <FeedCard
            agentId={agent.agentId}
            type={outline.types[revision]!}
            revision={revision}
            event={events.get(revision)}
            more={row.more.map((one) => events.get(one))}
            state={revision > place ? 'future' : isCurrent ? 'current' : ''}
            onChoose={() => openEvent(revision)}
          />
        )
      }}
    />
  )
}
