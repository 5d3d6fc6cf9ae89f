import { VirtualList } from '../../parts/virtual-list.tsx'
import type { AgentModel } from '../agent-model.ts'
import { after } from '../outline.ts'
import { goTo, positionIn } from '../position.ts'
import { FeedCard } from './feed-card.tsx'
import { Writing } from './writing.tsx'

const GUESS = 90

/**
 * The conversation view: messages, calls and decisions in full. The last card shows the text that the model is
 * generating.
 */
export function ConversationFeed({ agent, place }: { agent: AgentModel; place: number }) {
  const { events, outline } = agent
  events.version.value
  const count = agent.length.value === 0 ? 0 : outline.spoken.length
  const writing = agent.writing.value
  const isEnd = positionIn(agent.length.value) === agent.length.value - 1
  const current = after(outline.spoken, place) - 1
  return (
    <VirtualList
      label="What was said and done"
      measured
      count={count + (writing === null ? 0 : 1)}
      rowHeight={GUESS}
      at={isEnd && writing !== null ? count : current}
      onRange={(first, last) => events.want('timeline', outline.spoken.slice(first, last + 1))}
      row={(index) => {
        const revision = outline.spoken[index]
        if (revision === undefined) return <Writing agent={agent} />
        return (
          <FeedCard
            type={outline.types[revision]!}
            revision={revision}
            event={events.get(revision)}
            state={revision > place ? 'future' : index === current ? 'current' : ''}
            onChoose={() => goTo(revision)}
          />
        )
      }}
    />
  )
}
