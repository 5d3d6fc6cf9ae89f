import { useMemo } from 'preact/hooks'
import { jump } from '../../page/router.ts'
import { number, span } from '../../parts/format.ts'
import { shown } from '../../parts/shown.ts'
import { agentName, type TreeNode } from '../run-model.ts'
import { BAR_WORDS, type DrawnBar, drawnLinks, type LaneLink, type Span } from './lanes.ts'

/** The parts of the time axis on which a lane draws one link of each look at most. */
const LINK_PARTS = 40

interface LaneProps {
  readonly node: TreeNode
  readonly bars: readonly DrawnBar[]
  readonly links: readonly LaneLink[]
  /** The time that the lane shows. */
  readonly view: Span
  /** The end of open bars. */
  readonly now: number
  readonly chosen: boolean
  readonly onEnlarge: (to: Span) => void
}

/** An agent on the common time axis. */
export function Lane({ node, bars, links, view, now, chosen, onEnlarge }: LaneProps) {
  const { agentId, depth, task, createdAt, completedAt } = node
  const agent = depth === 0 ? null : agentId
  const name = shown(agentName(node))
  const drawn = useMemo(() => drawnLinks(links, view, LINK_PARTS), [links, view])
  // The same element again: nothing of the track is compared while other lanes change.
  const track = useMemo(() => {
    const between = (from: number, to: number) => {
      const [left, right] = [axis(view, from), axis(view, to)]
      return { left: `${left}%`, width: `${right - left}%` }
    }
    return (
      <span class="lane-track">
        <span
          class="lane-life"
          style={between(Date.parse(createdAt), completedAt === null ? now : Date.parse(completedAt))}
        />
        {bars.map(({ kind, from, to, revision, count, failed }) => {
          const what = count === 1 ? BAR_WORDS[kind] : `${number(count)} × ${BAR_WORDS[kind]}`
          const words = failed === 0 ? what : `${what}, ${count === 1 ? 'failed' : `${number(failed)} failed`}`
          return (
            <button
              key={`${kind} ${revision}`}
              type="button"
              class={`lane-bar bar-${kind}${count > 1 ? ' several' : ''}${failed > 0 ? ' failed' : ''}`}
              style={between(from, to ?? now)}
              tabIndex={-1}
              title={`${name}: ${words}, ${to === null ? 'open' : span(to - from)}`}
              aria-label={`${name}: ${words}, event ${revision}`}
              // Times are in whole milliseconds, so calls at the same one cannot be drawn apart.
              onClick={() =>
                count > 1 && to! > from ? onEnlarge({ from, to: to! }) : jump({ agent, at: String(revision) })
              }
            />
          )
        })}
        {drawn.map(({ kind, part, arrives, at, text, count }) => (
          <span
            key={`${kind} ${part} ${arrives} ${at}`}
            class={`lane-link link-${kind} ${part}${arrives ? ' arrives' : ''}`}
            style={{ left: `${axis(view, at)}%` }}
            title={count === 1 ? shown(text) : `${number(count)}: ${shown(text)} …`}
          />
        ))}
      </span>
    )
  }, [bars, drawn, view, now, name, agent, createdAt, completedAt])
  return (
    <div class="lane">
      <button
        type="button"
        class="plain lane-name"
        style={{ paddingLeft: `${6 + 10 * Math.max(0, depth)}px` }}
        aria-current={chosen || undefined}
        title={task === null ? name : `${name}: ${shown(task)}`}
        onClick={() => jump({ agent, at: null })}
      >
        <bdi>{name}</bdi>
        {depth > 0 && task !== null && (
          <span class="quiet">
            <bdi>{shown(task)}</bdi>
          </span>
        )}
      </button>
      {track}
    </div>
  )
}

/** The place of a time on the axis in percent, from 0 to 100. */
const axis = ({ from, to }: Span, at: number): number => Math.min(100, Math.max(0, (100 * (at - from)) / (to - from)))
