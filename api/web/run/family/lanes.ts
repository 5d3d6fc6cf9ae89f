import type { MessageView } from '../../../operations/messages/schemas.ts'
import type { RunTree } from '../../../operations/runs/schemas.ts'
import type { Outline } from '../outline.ts'

/**
 * A bar on an agent's lane. `to` null: it has not ended. `revision`: the event to show. `failed`: how many calls of the bar
 * failed. Times in ms since the epoch.
 */
export interface Bar {
  readonly kind: 'model' | 'tool' | 'approval' | 'pause' | 'children'
  readonly from: number
  readonly to: number | null
  readonly revision: number
  readonly failed: number
}

export const BAR_WORDS: Readonly<Record<Bar['kind'], string>> = {
  model: 'model call',
  tool: 'tool call',
  approval: 'waits for an approval',
  pause: 'paused',
  children: 'waits for its agents',
}

/** A line between two lanes, by their places in the list of agents. */
export interface Link {
  readonly kind: 'delegation' | 'end' | 'message'
  readonly from: number
  readonly to: number
  readonly at: number
  readonly text: string
}

const WAITS: Readonly<Record<string, readonly [kind: Bar['kind'], by: 1 | -1]>> = {
  approval_requested: ['approval', 1],
  approval_decided: ['approval', -1],
  approval_expired: ['approval', -1],
  approval_voided: ['approval', -1],
  paused: ['pause', 1],
  resumed: ['pause', -1],
  child_delegated: ['children', 1],
  child_ended: ['children', -1],
  child_unreached: ['children', -1],
}

type Told = Pick<Outline, 'types' | 'times' | 'work'>

/** The calls of an agent, and the times in which it waited for an approval, a pause to end or its children. */
export function barsOf({ types, times, work }: Told): readonly Bar[] {
  const waits: Bar[] = []
  const open = new Map<Bar['kind'], { count: number; at: number }>()
  types.forEach((type, revision) => {
    const wait = WAITS[type]
    if (wait === undefined) return
    const [kind, by] = wait
    const { count, at } = open.get(kind) ?? { count: 0, at: revision }
    // A wait begins with the first open question or child, and ends with the last one.
    const left = Math.max(0, count + by)
    if (count > 0 && left === 0) waits.push({ kind, from: times[at]!, to: times[revision]!, revision: at, failed: 0 })
    open.set(kind, { count: left, at: count === 0 ? revision : at })
  })
  for (const [kind, { count, at }] of open)
    if (count > 0) waits.push({ kind, from: times[at]!, to: null, revision: at, failed: 0 })
  const calls = work.map(({ kind, from, to, failed }) => ({
    ...{ kind, from: times[from]!, to: to === null ? null : times[to]!, revision: to ?? from, failed: failed ? 1 : 0 },
  }))
  return [...waits, ...calls]
}

/** The delegations, the ends of children and the messages between the agents, in the order of time. */
export function linksOf(agents: RunTree['agents'], messages: readonly Message[]): readonly Link[] {
  const place = new Map(agents.map(({ agentId }, nth) => [agentId, nth]))
  const families = agents.flatMap(({ parentId, createdAt, completedAt, code, status }, nth): Link[] => {
    const parent = place.get(parentId ?? '')
    if (parent === undefined) return []
    const begins: Link = { kind: 'delegation', from: parent, to: nth, at: Date.parse(createdAt), text: 'delegated' }
    if (completedAt === null) return [begins]
    return [begins, { kind: 'end', from: nth, to: parent, at: Date.parse(completedAt), text: code ?? status }]
  })
  const sent = messages.flatMap(({ from, to, receivedBy, timestamp, type, topic }): Link[] => {
    const sender = place.get(from)
    if (sender === undefined) return []
    const text = topic === undefined ? type : `${type} ${topic}`
    return (to === null ? receivedBy : [to]).flatMap((one) => {
      const target = place.get(one)
      return target === undefined ? [] : { kind: 'message', from: sender, to: target, at: Date.parse(timestamp), text }
    })
  })
  return [...families, ...sent].sort((a, b) => a.at - b.at)
}
type Message = Pick<MessageView, 'from' | 'to' | 'receivedBy' | 'timestamp' | 'type' | 'topic'>

/** A span of time in ms since the epoch. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** A bar as it is drawn. `count`: the number of bars that it stands for; their times are between `from` and `to`. */
export interface DrawnBar extends Bar {
  readonly count: number
}

/**
 * The bars in a span of time. Bars of one kind that together take less than one of `parts` equal parts of the span are
 * drawn as one, so the number of drawn bars is bounded however many there are. `bars` of one kind ascend by time.
 */
export function drawnBars(bars: readonly Bar[], { from, to }: Span, parts: number): readonly DrawnBar[] {
  const part = (to - from) / parts
  const drawn: DrawnBar[] = []
  const lastOf = new Map<Bar['kind'], number>()
  for (const bar of bars) {
    const end = bar.to ?? Number.POSITIVE_INFINITY
    if (end < from || bar.from > to) continue
    const at = lastOf.get(bar.kind) ?? -1
    const last = drawn[at]
    if (last !== undefined && Math.max(end, last.to ?? Number.POSITIVE_INFINITY) - last.from < part)
      drawn[at] = { ...last, to: Math.max(end, last.to!), count: last.count + 1, failed: last.failed + bar.failed }
    else lastOf.set(bar.kind, drawn.push({ ...bar, count: 1 }) - 1)
  }
  return drawn
}

/** A link on one lane. */
export interface LaneLink {
  readonly kind: Link['kind']
  readonly part: 'up' | 'down' | 'across'
  readonly arrives: boolean
  readonly at: number
  readonly text: string
}

/** The links that touch each lane. */
export function linksByLane(links: readonly Link[], lanes: number): readonly (readonly LaneLink[])[] {
  const found = Array.from({ length: lanes }, (): LaneLink[] => [])
  for (const { from, to, kind, at, text } of links) {
    for (let lane = Math.min(from, to); lane <= Math.max(from, to); lane++) {
      const part = partOn({ from, to }, lane)
      if (part !== null) found[lane]?.push({ kind, part, arrives: lane === to, at, text })
    }
  }
  return found
}

/** A link as it is drawn. `count`: the number of links that it stands for. */
export interface DrawnLink extends LaneLink {
  readonly count: number
}

/** The links of a lane in a span of time. Links that look the same in one of `parts` equal parts are drawn as one. */
export function drawnLinks(links: readonly LaneLink[], { from, to }: Span, parts: number): readonly DrawnLink[] {
  const drawn = new Map<string, DrawnLink>()
  for (const link of links) {
    if (link.at < from || link.at > to) continue
    const place = Math.floor((parts * (link.at - from)) / (to - from))
    const key = `${place} ${link.kind} ${link.part} ${link.arrives}`
    const before = drawn.get(key)
    drawn.set(key, before === undefined ? { ...link, count: 1 } : { ...before, count: before.count + 1 })
  }
  return [...drawn.values()]
}

/** The part of a link on one lane: from its middle up or down, or across the whole lane. Null: the link does not touch it. */
export function partOn({ from, to }: Pick<Link, 'from' | 'to'>, lane: number): 'up' | 'down' | 'across' | null {
  const [top, bottom] = [Math.min(from, to), Math.max(from, to)]
  if (lane < top || lane > bottom || top === bottom) return null
  return lane === top ? 'down' : lane === bottom ? 'up' : 'across'
}
