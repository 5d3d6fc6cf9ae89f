import { dollars } from '../../../cli/output/units.ts'
import { setQuery } from '../../page/router.ts'
import { clock, short } from '../../parts/format.ts'
import { shown } from '../../parts/shown.ts'
import { VirtualList } from '../../parts/virtual-list.tsx'
import type { AgentModel } from '../agent-model.ts'
import { after } from '../outline.ts'
import { goTo } from '../position.ts'
import type { Detail } from '../run-model.ts'

const ROW = 24

/** The agents of a run, and the turns of the one that is looked at. */
export function TreePane({ detail, agent, place }: { detail: Detail | null; agent: AgentModel; place: number }) {
  const { turnAt, times } = agent.outline
  const current = after(turnAt, place) - 1
  return (
    <section class="pane tree" aria-label="Agents and turns">
      <ul class="agents">
        {(detail?.tree ?? []).map((one) => (
          <li key={one.agentId} style={{ paddingLeft: `${one.depth * 12}px` }}>
            <button
              type="button"
              class="plain"
              aria-current={one.agentId === agent.agentId || undefined}
              onClick={() => setQuery({ agent: one.depth === 0 ? null : one.agentId, at: null })}
            >
              <bdi>{shown(one.role ?? short(one.agentId))}</bdi>
              <span class="quiet">
                {one.machineState.toLowerCase()} · {dollars(one.total.nanoDollars)}
              </span>
            </button>
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
