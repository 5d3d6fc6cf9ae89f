import { useState } from 'preact/hooks'
import { span } from '../../parts/format.ts'
import { shown } from '../../parts/shown.ts'
import { VirtualList } from '../../parts/virtual-list.tsx'
import type { AgentModel } from '../agent-model.ts'
import { goTo } from '../position.ts'

const ROW = 24

/** Model and tool calls on a time axis, failed ones in red. The axis covers the visible rows. */
export function Waterfall({ agent, place }: { agent: AgentModel; place: number }) {
  const { events, outline } = agent
  const { work, times } = outline
  events.version.value
  const [view, setView] = useState({ first: 0, last: 0 })
  agent.length.value
  const now = times.at(-1) ?? 0
  const endOf = (to: number | null) => (to === null ? now : times[to]!)
  const seen = work.slice(view.first, view.last + 1)
  const from = Math.min(...seen.map((one) => times[one.from]!))
  const width = Math.max(1, Math.max(...seen.map((one) => endOf(one.to))) - from)
  const reached = work.findLastIndex((one) => one.from <= place)
  return (
    <VirtualList
      label="Calls by their times"
      count={work.length}
      rowHeight={ROW}
      at={reached}
      onRange={(first, last) => {
        setView({ first, last })
        const ends = work.slice(first, last + 1).flatMap(({ from, to }) => (to === null ? [from] : [from, to]))
        events.want('timeline', ends)
      }}
      row={(index) => {
        const { kind, turn, from: began, to, failed } = work[index]!
        const ms = endOf(to) - times[began]!
        const start = events.get(began)
        const payload = to === null ? null : events.get(to)?.payload
        const measured = payload && 'durationMs' in payload ? payload.durationMs : ms
        const name = start?.type === 'tool_call_start' ? (start.payload?.toolName ?? kind) : kind
        const left = (100 * (times[began]! - from)) / width
        return (
          <button
            type="button"
            class={`work plain${began > place ? ' future' : ''}`}
            aria-current={index === reached || undefined}
            onClick={() => goTo(to ?? began)}
          >
            <span class={`type ${failed ? 'bad' : kind}`}>
              {turn} <bdi>{shown(name)}</bdi>
              {failed && <span title="failed"> ✗</span>}
            </span>
            <span class="quiet number">{to === null ? 'open' : span(measured)}</span>
            <span class="track">
              <span
                class={failed ? 'bar-bad' : `bar-${kind}`}
                style={{ marginLeft: `${left}%`, width: `${(100 * ms) / width}%` }}
              />
            </span>
          </button>
        )
      }}
    />
  )
}
