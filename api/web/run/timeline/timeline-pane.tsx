import type { RunTree } from '../../../operations/runs/schemas.ts'
import { useKeys } from '../../page/keyboard-shortcuts.ts'
import { query, setQuery } from '../../page/router.ts'
import { Tabs } from '../../parts/tabs.tsx'
import type { AgentModel } from '../agent-model.ts'
import { Compact } from './compact.tsx'
import { ConversationFeed } from './feed.tsx'
import { Waterfall } from './waterfall.tsx'

const VIEWS = [
  ['feed', 'Feed'],
  ['compact', 'Events'],
  ['waterfall', 'Waterfall'],
] as const
type View = (typeof VIEWS)[number][0]

interface TimelineProps {
  readonly runId: string
  readonly tree: RunTree | null
  readonly agent: AgentModel
  readonly place: number
}

/** An agent's events as a conversation, as one line each, or as a waterfall. */
export function TimelinePane({ runId, tree, agent, place }: TimelineProps) {
  const asked = query.value.get('view')
  const view: View = VIEWS.find(([name]) => name === asked)?.[0] ?? 'feed'
  const show = (name: string) => setQuery({ view: name === 'feed' ? null : name })
  useKeys({ v: () => show(VIEWS[(VIEWS.findIndex(([name]) => name === view) + 1) % VIEWS.length]![0]) })
  return (
    <section class="pane timeline" aria-label="Timeline">
      <Tabs label="View of the timeline" tabs={VIEWS} at={view} onChange={show}>
        {view === 'compact' && <Compact agent={agent} place={place} />}
        {view === 'feed' && (
          <ConversationFeed key={agent.agentId} runId={runId} tree={tree} agent={agent} place={place} />
        )}
        {view === 'waterfall' && <Waterfall agent={agent} place={place} />}
      </Tabs>
    </section>
  )
}
