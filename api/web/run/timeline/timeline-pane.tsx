import type { RunTree } from '../../../operations/runs/schemas.ts'
import { useKeys } from '../../page/keyboard-shortcuts.ts'
import { later } from '../../page/later.tsx'
import { query, setQuery } from '../../page/router.ts'
import { Tabs } from '../../parts/tabs.tsx'
import type { AgentModel } from '../agent-model.ts'
import type { RunModel } from '../run-model.ts'
import { Compact } from './compact.tsx'
import { ConversationFeed } from './feed.tsx'
import { Waterfall } from './waterfall.tsx'

const VIEWS = [
  ['feed', 'Feed'],
  ['compact', 'Events'],
  ['waterfall', 'Waterfall'],
  ['agents', 'All agents'],
] as const
type View = (typeof VIEWS)[number][0]

const FamilyWaterfall = later(async () => (await import('../family/family-waterfall.tsx')).FamilyWaterfall)

interface TimelineProps {
  readonly model: RunModel
  readonly tree: RunTree | null
  readonly agent: AgentModel
  readonly place: number
}

/** An agent's events as a conversation, as one line each or as a waterfall, or all agents on one time axis. */
export function TimelinePane({ model, tree, agent, place }: TimelineProps) {
  const { runId } = model
  // For a run of one agent, its waterfall shows the same calls.
  const views = (tree?.agents.length ?? 0) > 1 ? VIEWS : VIEWS.slice(0, 3)
  const asked = query.value.get('view')
  const view: View = views.find(([name]) => name === asked)?.[0] ?? 'feed'
  const show = (name: string) => setQuery({ view: name === 'feed' ? null : name })
  useKeys({ v: () => show(views[(views.findIndex(([name]) => name === view) + 1) % views.length]![0]) })
  return (
    <section class="pane timeline" aria-label="Timeline">
      <Tabs label="View of the timeline" tabs={views} at={view} onChange={show}>
        {view === 'compact' && <Compact agent={agent} place={place} />}
        {view === 'feed' && (
          <ConversationFeed key={agent.agentId} runId={runId} tree={tree} agent={agent} place={place} />
        )}
        {view === 'agents' && <FamilyWaterfall model={model} tree={tree!} chosen={agent.agentId} />}
        {view === 'waterfall' && <Waterfall agent={agent} place={place} />}
      </Tabs>
    </section>
  )
}
