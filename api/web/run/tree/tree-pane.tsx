import type { TreeAt } from '../../../operations/history/tree-at-schemas.ts'
import type { RunTree } from '../../../operations/runs/schemas.ts'
import { clock, short } from '../../parts/format.ts'
import { shown } from '../../parts/shown.ts'
import { VirtualList } from '../../parts/virtual-list.tsx'
import type { AgentModel } from '../agent-model.ts'
import { after } from '../outline.ts'
import { goTo } from '../position.ts'
import { AgentList } from './agent-list.tsx'

const ROW = 24

interface TreePaneProps {
  readonly tree: RunTree | null
  /** The agents at the position. Null: the position is the end, or they are not loaded yet. */
  readonly then: TreeAt | null
  readonly agent: AgentModel
  readonly place: number
}

/** A run's agents with their status at the position, and the turns of the current agent. */
export function TreePane({ tree, then, agent, place }: TreePaneProps) {
  const { turnAt, times } = agent.outline
  const current = after(turnAt, place) - 1
  return (
    <section class="pane tree" aria-label="Agents and turns">
      <ul class="agents">
        <AgentList agents={tree?.agents ?? []} then={then} chosen={agent.agentId} />
        {(tree?.recorded ?? []).map(({ agentId, runId, role, status, code }) => (
          <li key={agentId} class="quiet">
            <a href={`/runs/${runId}?agent=${agentId}`}>
              <bdi>{shown(role ?? short(agentId))}</bdi>
            </a>{' '}
            {code ?? status}, before the fork
          </li>
        ))}
      </ul>
      <VirtualList
        label="Turns"
        count={agent.length.value > 0 ? turnAt.length : 0}
        rowHeight={ROW}
        at={current}
        row={(index) => {
          const from = turnAt[index]!
          return (
            <button
              type="button"
              class={`turn plain${index > current ? ' future' : ''}`}
              aria-current={index === current || undefined}
              onClick={() => goTo((turnAt[index + 1] ?? agent.outline.length) - 1)}
            >
              <span>turn {agent.outline.turns[from]}</span>
              <span class="quiet">{clock(times[from]!)}</span>
            </button>
          )
        }}
      />
    </section>
  )
}
