import { substance } from '../../../cli/output/event-row.ts'
import { clock } from '../../parts/format.ts'
import { shown } from '../../parts/shown.ts'
import { VirtualList } from '../../parts/virtual-list.tsx'
import type { AgentModel } from '../agent-model.ts'
import { goTo } from '../position.ts'
import { toneOf } from './tone.ts'

const ROW = 24

/** A list with one line per event. */
export function Compact({ agent, place }: { agent: AgentModel; place: number }) {
  const { outline, events } = agent
  // Subscribe to the signal, so that rows render again when their events arrive.
  events.version.value
  return (
    <VirtualList
      label="Events"
      count={agent.length.value}
      rowHeight={ROW}
      at={place}
      onRange={(first, last) =>
        events.want(
          'timeline',
          Array.from({ length: last - first + 1 }, (_, i) => first + i),
        )
      }
      row={(revision) => {
        const event = events.get(revision)
        const type = outline.types[revision]!
        return (
          <button
            type="button"
            class={`event plain${revision > place ? ' future' : ''}`}
            aria-current={revision === place || undefined}
            onClick={() => goTo(revision)}
          >
            <span class="quiet number">{revision}</span>
            <span class="quiet">{clock(outline.times[revision]!)}</span>
            <span class={`type ${toneOf(type, event)}`}>{type}</span>
            <span class="said">
              <bdi>{event === undefined ? '' : shown(substance(event))}</bdi>
            </span>
          </button>
        )
      }}
    />
  )
}
