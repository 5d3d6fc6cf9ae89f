import { useMemo, useState } from 'preact/hooks'
import type { RunTree } from '../../../operations/runs/schemas.ts'
import { jump, query } from '../../page/router.ts'
import { clock, countText, number, span } from '../../parts/format.ts'
import { VirtualList } from '../../parts/virtual-list.tsx'
import type { AgentModel } from '../agent-model.ts'
import type { RunModel } from '../run-model.ts'
import { Lane } from './lane.tsx'
import { BAR_WORDS, type Bar, barsOf, drawnBars, linksByLane, linksOf, type Span } from './lanes.ts'
import { useMessages } from './use-messages.ts'

const ROW = 34
/** The parts of the time axis on which a lane draws one bar of each kind at most. */
const PARTS = 60
const NO_BARS: readonly Bar[] = []

interface FamilyProps {
  readonly model: RunModel
  readonly tree: RunTree
  readonly chosen: string
}

/**
 * All agents of a run on one time axis: their calls and waits, and the delegations, ends and messages between them. A
 * person can enlarge a part of the time; the URL names it as `time=FROM-TO`, ms since the epoch.
 */
export function FamilyWaterfall({ model, tree: { agents, runId }, chosen }: FamilyProps) {
  const family = useMessages(runId)
  const { messages, isAll } = family.shown.value
  const fault = family.fault.value
  const [seen, setSeen] = useState({ first: 0, last: -1 })
  const links = useMemo(() => linksOf(agents, messages), [agents, messages])
  const linksOn = useMemo(() => linksByLane(links, agents.length), [links, agents.length])
  const barsAt = useMemo(() => knownBars(), [model])
  // Only visible agents load their events.
  const models = agents.map(({ agentId }, nth) => (nth >= seen.first && nth <= seen.last ? model.agent(agentId) : null))
  const bars = models.map((agent) => (agent !== null && agent.length.value > 0 ? barsAt(agent) : NO_BARS))
  const { from: birth, to: end } = useMemo(() => wholeSpan(agents, links.at(-1)?.at ?? 0), [agents, links])
  // An agent at work has no end in the tree; its last event is later than all that is known of it there.
  const now = Math.max(
    end,
    ...models.map((agent) => (agent && agent.length.value > 0 ? agent.outline.times.at(-1)! : 0)),
  )
  const whole = { from: birth, to: now }
  const part = partOfQuery(query.value.get('time'), whole)
  const { from, to } = part ?? whole
  const view = useMemo(() => ({ from, to }), [from, to])
  const drawnAt = useMemo(() => memoized((of: readonly Bar[]) => drawnBars(of, view, PARTS)), [view])
  const drawn = bars.map(drawnAt)
  const count = drawn.flat().reduce((sum, bar) => sum + bar.count, 0)
  const shownBars = drawn.reduce((sum, { length }) => sum + length, 0)
  const enlarge = (to: Span | null) => jump({ time: to === null ? null : `${Math.floor(to.from)}-${Math.ceil(to.to)}` })
  return (
    <div class="family">
      <p class="family-axis quiet">
        <span>{clock(from)}</span>
        <Legend />
        <span>{span(to - from)}</span>
      </p>
      {(count > shownBars || part !== null) && (
        <p class="family-notice quiet" role="status">
          {count > shownBars &&
            `${countText(count, 'call')} and waits are drawn as ${countText(shownBars, 'bar')}. Choose a striped bar to enlarge its time. `}
          {part !== null && (
            <button type="button" class="link" onClick={() => enlarge(null)}>
              Show the whole time
            </button>
          )}
        </p>
      )}
      {!isAll && (
        <p class="family-notice quiet" role="status">
          Only the first {countText(messages.length, 'message')} are drawn.{' '}
          <button type="button" class="link" onClick={() => family.readMore()}>
            Draw up to {number(10 * messages.length)}
          </button>
        </p>
      )}
      {fault !== '' && (
        <p class="fault" role="alert">
          Messages are not drawn: {fault}
        </p>
      )}
      <VirtualList
        label="Agents by time"
        count={agents.length}
        rowHeight={ROW}
        at={agents.findIndex(({ agentId }) => agentId === chosen)}
        onRange={(first, last) => setSeen({ first, last })}
        row={(nth) => (
          <Lane
            {...{ view, now, node: agents[nth]!, bars: drawn[nth]!, links: linksOn[nth]!, onEnlarge: enlarge }}
            chosen={agents[nth]!.agentId === chosen}
          />
        )}
      />
    </div>
  )
}

const Legend = () => (
  <span class="legend">
    {Object.entries(BAR_WORDS).map(([kind, word]) => (
      <span key={kind}>
        <i class={`bar-${kind}`} /> {word}
      </span>
    ))}
    <span>
      <i class="bar-bad" /> ✗ failed
    </span>
    <span>
      <i class="link-delegation" /> delegation, end
    </span>
    <span>
      <i class="link-message" /> message
    </span>
  </span>
)

/** From the first birth to the last end or message that the tree knows of. */
function wholeSpan(agents: RunTree['agents'], lastLink: number): Span {
  const from = Math.min(...agents.map(({ createdAt }) => Date.parse(createdAt)))
  const ends = agents.map(({ createdAt, completedAt }) => Date.parse(completedAt ?? createdAt))
  return { from, to: Math.max(from + 1, lastLink, ...ends) }
}

/** The enlarged part of the time. Null: the URL names none, or none of this run. */
function partOfQuery(text: string | null, whole: Span): Span | null {
  const [, first, last] = /^(\d{1,15})-(\d{1,15})$/.exec(text ?? '') ?? []
  const [from, to] = [Number(first), Number(last)]
  return from < to && from <= whole.to && to >= whole.from ? { from, to } : null
}

/** The bars of agents, computed again only when an agent has new events. */
function knownBars(): (agent: AgentModel) => readonly Bar[] {
  const known = new WeakMap<AgentModel, { length: number; bars: readonly Bar[] }>()
  return (agent) => {
    const { length } = agent.outline
    const before = known.get(agent)
    if (before?.length === length) return before.bars
    const bars = barsOf(agent.outline)
    known.set(agent, { length, bars })
    return bars
  }
}

/** The same function, which computes each answer once. */
function memoized<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, V>()
  return (key) => {
    if (!known.has(key)) known.set(key, make(key))
    return known.get(key)!
  }
}
