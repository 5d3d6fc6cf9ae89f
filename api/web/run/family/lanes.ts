import type { MessageView } from '../../../operations/messages/schemas.ts'
import type { RunTree } from '../../../operations/runs/schemas.ts'
import type { Outline } from '../outline.ts'

/** A bar on an agent's lane. `to` null: it has not ended. `revision`: the event to show. Times in ms since the epoch. */
export interface Bar {
  readonly kind: 'model' | 'tool' | 'approval' | 'pause' | 'children'
  readonly from: number
  readonly to: number | null
  readonly revision: number
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
    if (count > 0 && left === 0) waits.push({ kind, from: times[at]!, to: times[revision]!, revision: at })
    open.set(kind, { count: left, at: count === 0 ? revision : at })
  })
  for (const [kind, { count, at }] of open)
    if (count > 0) waits.push({ kind, from: times[at]!, to: null, revision: at })
  const calls = work.map(({ kind, from, to }) => ({
    ...{ kind, from: times[from]!, to: to === null ? null : times[to]!, revision: to ?? from },
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

/** The part of a link on one lane: from its middle up or down, or across the whole lane. Null: the link does not touch it. */
export function partOn({ from, to }: Pick<Link, 'from' | 'to'>, lane: number): 'up' | 'down' | 'across' | null {
  const [top, bottom] = [Math.min(from, to), Math.max(from, to)]
  if (lane < top || lane > bottom || top === bottom) return null
  return lane === top ? 'down' : lane === bottom ? 'up' : 'across'
}
