import type { Header } from '../log/envelope.ts'

/** What every decoded event of a stream tells, whatever its kind. `at`: ms since the epoch. */
export interface StreamEvent {
  readonly type: string
  readonly body: unknown
  readonly revision: number
  readonly at: number
}

/** A decided event: its type and body, and whether it is a checkpoint, which carries a digest of the state after it. */
export interface Decided<State, Event extends StreamEvent> {
  readonly event: Event
  readonly after: State
  readonly checkpoint: boolean
}

/** A decision: its events in order, and the state after them. No events: the command changes nothing. */
export interface Decision<State, Event extends StreamEvent> {
  readonly drafts: readonly Decided<State, Event>[]
  readonly state: State | null
}

/**
 * One kind of stream: how its events are read, folded and decided. All of it is pure: no I/O, no clock, no randomness.
 * The runtime loads, decides, seals, appends, verifies, erases and rebuilds any stream through this interface alone.
 */
export interface Aggregate<State, Event extends StreamEvent, Command, Context, Effect> {
  /** The first part of the streams' names: `<kind>-<id>`. */
  readonly kind: string
  /** Version of the fold and of the view that its digests are taken over. */
  readonly fold: number
  /** A stored event as the fold sees it, in its current version. Throws LogError UNKNOWN_EVENT, LOG_NEWER or LOG_CORRUPT. */
  decode(header: Header, body: Uint8Array): Event
  /** The state after an event. Throws where the event is impossible in this state. */
  evolve(state: State | null, event: Event): State
  /** What a command changes. Throws CommandRejected where a request is refused; an outcome is never refused. */
  decide(state: State | null, command: Command, context: Context): Decision<State, Event>
  /** Effects whose intent is recorded and whose outcome is not. */
  owed(state: State): readonly Effect[]
  /** When the stream must be driven next, ms since the epoch; null: not before something new is recorded. */
  wakeAt(state: State): number | null
  /** Hex SHA-256 over the fold's view of the state. */
  digest(state: State): string
}
