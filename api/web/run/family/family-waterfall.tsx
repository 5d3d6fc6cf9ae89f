import { useState } from 'preact/hooks'
import { take } from '../../../http/answers.ts'
import type { RunTree } from '../../../operations/runs/schemas.ts'
import { api } from '../../client/api.ts'
import { jump } from '../../page/router.ts'
import { clock, short, span } from '../../parts/format.ts'
import { useLoaded } from '../../parts/loaded.tsx'
import { shown } from '../../parts/shown.ts'
import { VirtualList } from '../../parts/virtual-list.tsx'
import type { RunModel, TreeNode } from '../run-model.ts'
import { type Bar, barsOf, type Link, linksOf, partOn } from './lanes.ts'

const ROW = 34
/** The most messages that are drawn: one page of the API. */
const MESSAGES = '500'

const WORDS: Readonly<Record<Bar['kind'], string>> = {
  model: 'model call',
  tool: 'tool call',
  approval: 'waits for an approval',
  pause: 'paused',
  children: 'waits for its agents',
}

interface FamilyProps {
  readonly model: RunModel
  readonly tree: RunTree
  readonly chosen: string
}

/** All agents of a run on one time axis: their calls and waits, and the delegations, ends and messages between them. */
export function FamilyWaterfall({ model, tree: { agents, runId }, chosen }: FamilyProps) {
  const param = { id: runId }
  const loaded = useLoaded(
    runId,
    () => take(api.v1.runs[':id'].messages.$get({ param, query: { limit: MESSAGES } })),
    agents.reduce((sum, { turn, own }) => sum + turn + own.toolCalls, 0),
  )
  const messages = loaded !== null && 'value' in loaded ? loaded.value.messages : []
  const [seen, setSeen] = useState({ first: 0, last: -1 })
  const links = linksOf(agents, messages)
  // Only visible agents load their events.
  const models = agents.map(({ agentId }, nth) => (nth >= seen.first && nth <= seen.last ? model.agent(agentId) : null))
  const ends = models.map((one) => (one !== null && one.length.value > 0 ? one.outline.times.at(-1)! : 0))
  const from = Math.min(...agents.map(({ createdAt }) => Date.parse(createdAt)))
  const to = Math.max(from + 1, ...ends, ...links.map(({ at }) => at))
  const axis = (at: number): number => (100 * (at - from)) / (to - from)
  return (
    <div class="family">
      <p class="family-axis quiet">
        <span>{clock(from)}</span>
        <span class="legend">
          {Object.entries(WORDS).map(([kind, word]) => (
            <span key={kind}>
              <i class={`bar-${kind}`} /> {word}
            </span>
          ))}
          <span>
            <i class="link-delegation" /> delegation, end
          </span>
          <span>
            <i class="link-message" /> message
          </span>
        </span>
        <span>{span(to - from)}</span>
      </p>
      {loaded !== null && 'fault' in loaded && (
        <p class="fault" role="alert">
          Messages are not drawn: {loaded.fault}
        </p>
      )}
      <VirtualList
        label="Agents by time"
        count={agents.length}
        rowHeight={ROW}
        at={agents.findIndex(({ agentId }) => agentId === chosen)}
        onRange={(first, last) => setSeen({ first, last })}
        row={(nth) => {
          const agent = models[nth]
          const bars = agent != null && agent.length.value > 0 ? barsOf(agent.outline) : []
          return (
            <Lane
              {...{ node: agents[nth]!, nth, bars, links, axis, now: to }}
              chosen={agents[nth]!.agentId === chosen}
            />
          )
        }}
      />
    </div>
  )
}

interface LaneProps {
  readonly node: TreeNode
  readonly nth: number
  readonly bars: readonly Bar[]
  readonly links: readonly Link[]
  /** The place of a time on the axis, in percent. */
  readonly axis: (at: number) => number
  readonly now: number
  readonly chosen: boolean
}

function Lane({ node, nth, bars, links, axis, now, chosen }: LaneProps) {
  const { agentId, depth, role, backend, createdAt, completedAt } = node
  const open = (revision: number) => jump({ agent: depth === 0 ? null : agentId, at: String(revision) })
  const name = shown(role ?? backend ?? short(agentId))
  const between = (from: number, to: number) => ({ left: `${axis(from)}%`, width: `${axis(to) - axis(from)}%` })
  return (
    <div class="lane">
      <button
        type="button"
        class="plain lane-name"
        style={{ paddingLeft: `${6 + 10 * Math.max(0, depth)}px` }}
        aria-current={chosen || undefined}
        onClick={() => jump({ agent: depth === 0 ? null : agentId, at: null })}
      >
        <bdi>{name}</bdi>
      </button>
      <span class="lane-track">
        <span
          class="lane-life"
          style={between(Date.parse(createdAt), completedAt === null ? now : Date.parse(completedAt))}
        />
        {bars.map(({ kind, from, to, revision }) => (
          <button
            key={`${kind} ${revision}`}
            type="button"
            class={`lane-bar bar-${kind}`}
            style={between(from, to ?? now)}
            tabIndex={-1}
            title={`${name}: ${WORDS[kind]}, ${to === null ? 'open' : span(to - from)}`}
            aria-label={`${name}: ${WORDS[kind]}, event ${revision}`}
            onClick={() => open(revision)}
          />
        ))}
        {links.map((link, n) => {
          const part = partOn(link, nth)
          return (
            part !== null && (
              <span
                key={n}
                class={`lane-link link-${link.kind} ${part}${link.to === nth ? ' arrives' : ''}`}
                style={{ left: `${axis(link.at)}%` }}
                title={shown(link.text)}
              />
            )
          )
        })}
      </span>
    </div>
  )
}
