import type { Delivered, Origin } from './events.ts'

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
export const obligationKey = ({ stream, revision, losses }: Origin): string =>
  `${stream}@${revision}${losses === undefined ? '' : `+${losses}`}`

/** Revision and number of losses of an event of this stream, as an {@link Origin} records them. */
export function placeOf({ courier }: Ledger, revision: number): Pick<Origin, 'revision' | 'losses'> {
  const losses = (courier.losses ?? []).filter((at) => at < revision).length
  return { revision, ...(losses === 0 ? {} : { losses }) }
}

/** The `losses` of the stream's next event, as message bodies record it. Message ids are derived from it. */
export function nextLosses({ courier, revision }: Ledger & { readonly revision: number }) {
  const { losses } = placeOf({ courier }, revision + 1)
  return losses === undefined ? {} : { losses }
}

/** The first revision of the current stream with a higher rank than this. */
export const firstBehind = ({ courier }: Ledger, rank: number): number =>
  Math.min((rank % RANKS) + 1, courier.losses?.[lossesAt(rank)] ?? Number.POSITIVE_INFINITY)

export const NO_OBLIGATIONS: Courier = { owed: {}, accepted: {} }

interface Ledger {
  readonly courier: Courier
}

/** The rank of the last accepted obligation of a source; -1: none. */
export const acceptedFrom = ({ courier }: Ledger, stream: string): number => courier.accepted[stream] ?? -1

/** Targets with undelivered obligations. The courier reads from `from`; `accepted` precedes its first delivery. */
export const undelivered = ({ courier }: Ledger): readonly (Obligations & { target: string })[] =>
  Object.entries(courier.owed)
    .filter(([, { from, last }]) => from <= last)
    .map(([target, owed]) => ({ target, ...owed }))

/** Whether the target accepted the obligation at this revision, as far as is known. */
export const wasAccepted = (state: Ledger, { accepted }: Obligations, revision: number): boolean =>
  rankOf(placeOf(state, revision)) <= accepted

/** The obligations after a recorded delivery; null: the delivery settles nothing. */
export function settled(state: Ledger, { target, upTo, accepted, again }: Delivered): Courier['owed'] | null {
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
export function settles(state: Ledger, { target, upTo, again }: Pick<Delivered, 'target' | 'upTo' | 'again'>): boolean {
  const owed = state.courier.owed[target]
  if (owed === undefined) return false
  return again ? wasAccepted(state, owed, upTo) : upTo >= owed.from
}
