import { agentStream, externalStream } from '../../log/ids.ts'
import type { AgentEvent, BodyOf } from '../events/events.ts'
import { isPerson } from '../events/messages.ts'
import type { Origin } from '../events/tree.ts'
import { ImpossibleEvent } from './impossible.ts'

// Between streams: certain events of a stream are obligations to another one. The state keeps which are to
// be delivered, and what was accepted, in a few numbers per stream.

/** Obligations to one stream. They are undelivered while `from` is not after `last`. */
export interface Obligations {
  /** The rank of the last one that the target has accepted; -1: none. */
  readonly accepted: number
  /** The first undelivered one is at this revision or after it. */
  readonly from: number
  readonly last: number
}

export interface Courier {
  /** By target stream. */
  readonly owed: Readonly<Record<string, Obligations>>
  /** By source stream: the rank of its last obligation that this stream has recorded. */
  readonly accepted: Readonly<Record<string, number>>
  /** Revisions of this stream at which a loss of its end was accepted; absent: none. */
  readonly losses?: readonly number[]
}

/** A stream that has lost its end uses revisions again: whatever follows a loss ranks behind all that it could have held. */
const RANKS = 2 ** 32

/** The place of an obligation among all that its stream has ever held. It grows along the stream. */
export const rankOf = ({ revision, losses = 0 }: Pick<Origin, 'revision' | 'losses'>): number =>
  losses * RANKS + revision

/** The losses that a stream had before an obligation of this rank. */
export const lossesAt = (rank: number): number => Math.floor(rank / RANKS)

/** The key under which the target remembers an obligation. */
export const keyOf = ({ stream, revision, losses }: Origin): string =>
  `${stream}@${revision}${losses === undefined ? '' : `+${losses}`}`

/** Where an event of a stream stands, as the origin of its copies says. */
export function placeOf({ courier }: Pick<Member, 'courier'>, revision: number): Pick<Origin, 'revision' | 'losses'> {
  const losses = (courier.losses ?? []).filter((at) => at < revision).length
  return { revision, ...(losses === 0 ? {} : { losses }) }
}

/** The rank of the stream's next event as the bodies of messages say it: their ids follow from it. */
export function nextLosses({ courier, revision }: Pick<Member, 'courier'> & { readonly revision: number }) {
  const { losses } = placeOf({ courier }, revision + 1)
  return losses === undefined ? {} : { losses }
}

/** The first revision of the stream, as it is now, that ranks behind this. */
export const firstBehind = ({ courier }: Pick<Member, 'courier'>, rank: number): number =>
  Math.min((rank % RANKS) + 1, courier.losses?.[lossesAt(rank)] ?? Number.POSITIVE_INFINITY)

export const NO_OBLIGATIONS: Courier = { owed: {}, accepted: {} }

interface Member {
  readonly spec: { readonly delegation?: unknown; readonly tools: readonly { readonly name: string }[] }
  readonly parent: { readonly agentId: string } | null
  /** Of the root, which has the same id. */
  readonly runId: string
  readonly courier: Courier
}

const NONE: readonly string[] = []

/** The streams to which an event is an obligation. */
export function targetsOf({ parent, runId, spec }: Omit<Member, 'courier'>, event: AgentEvent): readonly string[] {
  switch (event.type) {
    case 'child_delegated':
      return [event.body.backend === undefined ? agentStream(event.body.childId) : externalStream(event.body.childId)]
    case 'cancel_forwarded':
      return [event.body.external === undefined ? agentStream(event.body.childId) : externalStream(event.body.childId)]
    case 'budget_granted':
    case 'pause_forwarded':
    case 'resume_forwarded':
      return [agentStream(event.body.childId)]
    case 'end_reported':
    case 'usage_reported':
    case 'budget_requested':
    case 'artifact_registered':
      return parent === null || spec.delegation === undefined ? NONE : [agentStream(parent.agentId)]
    case 'message_sent':
      return isPerson(event.body.to) ? NONE : [agentStream(event.body.to)]
    case 'topic_subscribed':
    case 'message_published':
      return [agentStream(runId)]
    case 'message_distributed':
      return event.body.to.map(agentStream)
    default:
      return NONE
  }
}

/** The event that this one was copied from; null: it is the stream's own. */
export const originOf = ({ body }: Pick<AgentEvent, 'body'>): Origin | null =>
  'origin' in body && body.origin !== undefined ? body.origin : null

/** The rank of a source's last obligation that was accepted; -1: none. */
export const acceptedFrom = ({ courier }: Pick<Member, 'courier'>, stream: string): number =>
  courier.accepted[stream] ?? -1

/** Streams with undelivered obligations. A courier reads this one from `from` on; `accepted` precedes what it delivers. */
export const undelivered = ({ courier }: Pick<Member, 'courier'>): readonly (Obligations & { target: string })[] =>
  Object.entries(courier.owed)
    .filter(([, { from, last }]) => from <= last)
    .map(([target, owed]) => ({ target, ...owed }))

/** The obligations after an event. */
export function courierAfter(state: Member, event: AgentEvent): Courier {
  const origin = originOf(event)
  if (event.type === 'loss_accepted') return afterLoss(state, event)
  const before = origin === null ? state.courier : accept(state, event, origin)
  if (event.type === 'delivered') return { ...state.courier, owed: settle(state, event) }
  const targets = targetsOf(state, event)
  if (targets.length === 0) return before
  const owed: Record<string, Obligations> = { ...before.owed }
  for (const target of targets) {
    const { accepted, from, last } = owed[target] ?? { accepted: -1, from: 0, last: -1 }
    owed[target] = { accepted, from: from <= last ? from : event.revision, last: event.revision }
  }
  return { ...before, owed }
}

function accept(state: Member, event: AgentEvent, origin: Origin): Courier {
  const { stream } = origin
  if (rankOf(origin) <= acceptedFrom(state, stream))
    throw new ImpossibleEvent(event, `${keyOf(origin)} was accepted before`)
  return { ...state.courier, accepted: { ...state.courier.accepted, [stream]: rankOf(origin) } }
}

/** May the agent have obligations? Only one of a tree, or one that can send messages. */
export const mayOwe = ({ delegation, tools }: Member['spec']): boolean =>
  delegation !== undefined || tools.some(({ name }) => name === 'send_message')

function afterLoss({ courier, spec }: Member, { revision }: AgentEvent): Courier {
  return mayOwe(spec) ? { ...courier, losses: [...(courier.losses ?? []), revision] } : courier
}

/** Was the obligation at this revision accepted by its target, as far as is known? */
export const wasAccepted = (state: Pick<Member, 'courier'>, { accepted }: Obligations, revision: number): boolean =>
  rankOf(placeOf(state, revision)) <= accepted

function settle(state: Member, event: Extract<AgentEvent, { type: 'delivered' }>): Courier['owed'] {
  const owed = settled(state, event.body)
  if (owed !== null) return owed
  throw new ImpossibleEvent(event, `nothing up to ${event.body.upTo} is owed to ${event.body.target}`)
}

/** The obligations after their delivery was recorded; null: there are none that it could settle. */
export function settled(
  state: Pick<Member, 'courier'>,
  { target, upTo, accepted, again }: BodyOf<'delivered'>,
): Courier['owed'] | null {
  const { owed } = state.courier
  const before = owed[target]
  if (before === undefined) return null
  const isOwed = again ? wasAccepted(state, before, upTo) : before.from <= upTo && upTo <= before.last
  if (!isOwed) return null
  // What follows an obligation that was refused when it was brought again is brought again too.
  const last = again ? (accepted ?? -1) : Math.max(before.accepted, accepted ?? -1)
  return { ...owed, [target]: { accepted: last, from: upTo + 1, last: before.last } }
}

/** Does the delivery of obligations up to this revision settle anything? */
export function settles(
  state: Pick<Member, 'courier'>,
  { target, upTo, again }: Pick<BodyOf<'delivered'>, 'target' | 'upTo' | 'again'>,
): boolean {
  const owed = state.courier.owed[target]
  if (owed === undefined) return false
  return again ? wasAccepted(state, owed, upTo) : upTo >= owed.from
}
