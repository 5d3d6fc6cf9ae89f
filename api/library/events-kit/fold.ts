import { type OwnKind, ownAggregate } from '../../../domain/kinds.ts'
import type { Header } from '../../../domain/log/envelope.ts'
import { kindOf } from '../../../domain/log/owner.ts'

type Own<K extends OwnKind> = ReturnType<typeof ownAggregate<K>>

/** The events of a kind of stream, as a union over their types. Each has `type`, `body`, `revision`, `at` and `actor`. */
export type EventOf<K extends OwnKind> = ReturnType<Own<K>['decode']>
/** The folded state of a kind of stream. It may change between versions of keepup; `digest` names the change. */
export type StateOf<K extends OwnKind> = ReturnType<Own<K>['evolve']>
/** An event of any stream that keepup writes. */
export type AnyEvent = { readonly [K in OwnKind]: EventOf<K> }[OwnKind]

interface Folding<State, Event> {
  decode(header: Header, body: Uint8Array): Event
  evolve(state: State | null, event: Event): State
  digest(state: State): string
}

const of = <K extends OwnKind>(kind: K) => ownAggregate(kind) as unknown as Folding<StateOf<K>, EventOf<K>>

/** Whether events of this stream have the types of a kind. */
export const isOfKind = (stream: string, kind: OwnKind): boolean => kindOf(stream) === kind

/**
 * Decodes a stored event. Older versions are converted to the current one. `body`: the stored bytes without their salt.
 * Throws an error with the code UNKNOWN_EVENT, LOG_NEWER or LOG_CORRUPT.
 */
export const decode = <K extends OwnKind>(kind: K, header: Header, body: Uint8Array): EventOf<K> =>
  of(kind).decode(header, body)

/**
 * The state after events, from the first event of a stream on, or from the state before them. Null: no event. Throws if
 * an event is impossible in the state before it.
 */
export function fold<K extends OwnKind>(
  kind: K,
  events: Iterable<EventOf<K>>,
  from: StateOf<K> | null = null,
): StateOf<K> | null {
  const { evolve } = of(kind)
  let state = from
  for (const event of events) state = evolve(state, event)
  return state
}

/** The digest of a state, as the headers of checkpoints record it: hex SHA-256 over the fold's view of the state. */
export const digest = <K extends OwnKind>(kind: K, state: StateOf<K>): string => of(kind).digest(state)
