import { agentStream, externalStream } from '../../log/ids.ts'
import type { AgentEvent, BodyOf } from '../events/events.ts'
import { isPerson } from '../events/messages.ts'
import type { Origin } from '../events/tree.ts'
import { ImpossibleEvent } from './impossible.ts'

// Some events of a stream are obligations to another stream. The state keeps a few numbers per stream: which
// obligations are undelivered, and which were accepted.

/** Obligations to one stream. Some are undelivered while `from` <= `last`. */
export interface Obligations {
  /** The rank of the last obligation that the target accepted; -1: none. */
  readonly accepted: number
  /** The first undelivered obligation is at this revision or later. */
  readonly from: number
  readonly last: number
}

export interface Courier {
  /** By target stream. */
  readonly owed: Readonly<Record<string, Obligations>>
  /** By source stream: the rank of its last obligation that this stream recorded. */
  readonly accepted: Readonly<Record<string, number>>
  /** Revisions of this stream at which a loss of its end was accepted; absent: none. */
  readonly losses?: readonly number[]
}

/**
 * A stream that lost its end reuses revisions. The factor makes every event after a loss rank higher than all events
 * that the lost part could contain.
 */
const RANKS = 2 ** 32

/** The position of an obligation among all that its stream ever contained. Ranks increase along the stream. */
export const rankOf = ({ revision, losses = 0 }: Pick<Origin, 'revision' | 'losses'>): number =>
  losses * RANKS + revision

/** The number of losses of a stream before an obligation of this rank. */
export const lossesAt = (rank: number): number => Math.floor(rank / RANKS)

/** The idempotency key of an obligation in the target stream. */
export const keyOf = ({ stream, revision, losses }: Origin): string =>
  `${stream}@${revision}${losses === undefined ? '' : `+${losses}`}`

/** Revision and number of losses of an event of this stream, as an {@link Origin} records them. */
export function placeOf({ courier }: Pick<Member, 'courier'>, revision: number): Pick<Origin, 'revision' | 'losses'> {
  const losses = (courier.losses ?? []).filter((at) => at < revision).length
  return { revision, ...(losses === 0 ? {} : { losses }) }
}

/** The `losses` of the stream's next event, as message bodies record it. Message ids are derived from it. */
export function nextLosses({ courier, revision }: Pick<Member, 'courier'> & { readonly revision: number }) {
  const { losses } = placeOf({ courier }, revision + 1)
  return losses === undefined ? {} : { losses }
}

/** The first revision of the current stream with a higher rank than this. */
export const firstBehind = ({ courier }: Pick<Member, 'courier'>, rank: number): number =>
  Math.min((rank % RANKS) + 1, courier.losses?.[lossesAt(rank)] ?? Number.POSITIVE_INFINITY)

export const NO_OBLIGATIONS: Courier = { owed: {}, accepted: {} }

interface Member {
  readonly spec: { readonly delegation?: unknown; readonly tools: readonly { readonly name: string }[] }
  readonly parent: { readonly agentId: string } | null
  /** The run id, which is also the root's agent id. */
  readonly runId: string
  readonly courier: Courier
}

const NONE: readonly string[] = []

/** The streams that an event is an obligation to. */
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

/** The event that this one was copied from; null: it originates in this stream. */
export const originOf = ({ body }: Pick<AgentEvent, 'body'>): Origin | null =>
  'origin' in body && body.origin !== undefined ? body.origin : null

/** The rank of the last accepted obligation of a source; -1: none. */
export const acceptedFrom = ({ courier }: Pick<Member, 'courier'>, stream: string): number =>
  courier.accepted[stream] ?? -1

/** Targets with undelivered obligations. The courier reads from `from`; `accepted` precedes its first delivery. */
export const undelivered = ({ courier }: Pick<Member, 'courier'>): readonly (Obligations & { target: string })[] =>
  Object.entries(courier.owed)
    .filter(([, { from, last }]) => from <= last)
    .map(([target, owed]) => ({ target, ...owed }))

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

/** Whether the agent can create obligations: it belongs to a tree or can send messages. */
export const mayOwe = ({ delegation, tools }: Member['spec']): boolean =>
  delegation !== undefined || tools.some(({ name }) => name === 'send_message')

function afterLoss({ courier, spec }: Member, { revision }: AgentEvent): Courier {
  return mayOwe(spec) ? { ...courier, losses: [...(courier.losses ?? []), revision] } : courier
}

/** Whether the target accepted the obligation at this revision, as far as is known. */
export const wasAccepted = (state: Pick<Member, 'courier'>, { accepted }: Obligations, revision: number): boolean =>
  rankOf(placeOf(state, revision)) <= accepted

function settle(state: Member, event: Extract<AgentEvent, { type: 'delivered' }>): Courier['owed'] {
  const owed = settled(state, event.body)
  if (owed !== null) return owed
  throw new ImpossibleEvent(event, `nothing up to ${event.body.upTo} is owed to ${event.body.target}`)
}

/** The obligations after a recorded delivery; null: the delivery settles nothing. */
export function settled(
  state: Pick<Member, 'courier'>,
  { target, upTo, accepted, again }: BodyOf<'delivered'>,
): Courier['owed'] | null {
  const { owed } = state.courier
  const before = owed[target]
  if (before === undefined) return null
  const isOwed = again ? wasAccepted(state, before, upTo) : before.from <= upTo && upTo <= before.last
  if (!isOwed) return null
  // After a refused repetition, the obligations that follow it are delivered again too.
  const last = again ? (accepted ?? -1) : Math.max(before.accepted, accepted ?? -1)
  return { ...owed, [target]: { accepted: last, from: upTo + 1, last: before.last } }
}

/** Whether a delivery up to this revision settles an obligation. */
export function settles(
  state: Pick<Member, 'courier'>,
  { target, upTo, again }: Pick<BodyOf<'delivered'>, 'target' | 'upTo' | 'again'>,
): boolean {
  const owed = state.courier.owed[target]
  if (owed === undefined) return false
  return again ? wasAccepted(state, owed, upTo) : upTo >= owed.from
}
