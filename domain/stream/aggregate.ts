import type { Actor, Header } from '../log/envelope.ts'
import type { SaltedBody } from '../log/seal.ts'

/** The members of every decoded event of a stream, whatever its kind. `at`: ms since the epoch. */
export interface StreamEvent {
  readonly type: string
  readonly body: unknown
  readonly revision: number
  readonly at: number
  readonly commandId: string
  readonly actor: Actor
  readonly bodyHash: string
  readonly turn?: number
  readonly runId?: string
  readonly agentId?: string
  readonly toolCallId?: string
  readonly causationId?: string
  readonly correlationId?: string
  readonly driver?: Header['driver']
}

/** A decided event that is not sealed yet, with the state after it. A checkpoint carries a digest of that state. */
export interface Draft<State, Event extends StreamEvent> {
  readonly event: Event
  readonly body: SaltedBody
  readonly after: State
  readonly checkpoint: boolean
}

/** A decision: its events in order, and the state after them. No events: the command changes nothing. */
export interface Decision<State, Event extends StreamEvent> {
  readonly drafts: readonly Draft<State, Event>[]
  readonly state: State | null
}

/** The knowledge of the world of a decision: its time, randomness and who asks. */
export interface StreamContext {
  /** Milliseconds since the epoch, not before the stream's last event. */
  readonly now: number
  /** 16 random bytes. */
  salt(): Uint8Array
  /** In [0, 1). */
  jitter(): number
  readonly by: Actor
  readonly commandId: string
  /** The outermost request that the caller named; absent: this one. */
  readonly correlationId?: string
  /** W3C trace context. */
  readonly trace?: string
}

/** The stream that is decided on, without the namespace, and its last revision (-1: it does not exist). */
export interface Place {
  readonly stream: string
  readonly revision: number
}

/** Bytes beside the log that a body names: their salted hash is their address. */
export interface Attachment {
  readonly hash: string
  readonly size: number
  readonly salt: string
}

/** The events before a stream's first one: another stream's, up to a revision. */
export interface Inherited {
  readonly stream: string
  readonly revision: number
  readonly hash: string
  readonly digest: NonNullable<Header['digest']>
}

/** The bodies that erasures of a kind of stream may empty, and their residues. */
export interface Erasing {
  /** Whether a body of this type may hold words of people, models or tools. */
  says(type: string): boolean
  /** The residue that the fold needs of a body, in the shape of its type's current version, without those words. */
  residue(type: string, body: unknown): unknown
  /** Reads a stream's headers in order, and says whether it has ended, so that bodies may be erased. */
  ending(): { see(header: Header): void; readonly ended: boolean }
}

/** Why a request is refused by any stream. */
export type StreamRejection =
  | 'REVISION_CHANGED'
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'RUN_UNKNOWN'
  | 'RUN_ACTIVE'
  | 'EVENT_UNKNOWN'
  | 'NOT_ERASABLE'

/**
 * One kind of stream: how its events are read, folded and decided. All of it is pure: no I/O, no clock, no randomness.
 * The runtime loads, decides, seals, appends, verifies and erases any stream through this interface alone.
 */
export interface Aggregate<State, Event extends StreamEvent, Command, Context extends StreamContext = StreamContext> {
  /** The first part of the streams' names: `<kind>-<id>`. */
  readonly kind: string
  /** Version of the fold and of the view that its digests are taken over. */
  readonly fold: number
  /** Current version of each type of event. */
  readonly versions: Readonly<Record<string, number>>
  /**
   * A stored event in its current version. Throws LogError UNKNOWN_EVENT for a type or version that this program does not
   * know, LOG_NEWER where a newer program wrote the stream, and LOG_CORRUPT where the body is not JSON.
   */
  decode(header: Header, body: Uint8Array): Event
  /** An event whose body was erased, from what was kept of it. Throws as {@link decode} does. */
  decodeKept(header: Header, kept: { readonly version: number; readonly body: unknown }): Event
  /** Throws as {@link decode} does where the header alone says that this program cannot read the event. */
  checkKnown(header: Header): void
  /** Why the body of an event has not its type's current shape, or null. */
  fault(event: Event): string | null
  /** The state after an event. Throws where the event is impossible in this state. */
  evolve(state: State | null, event: Event): State
  /** The decision on a command. Throws where a request is refused; an outcome is never refused. */
  decide(state: State | null, place: Place, command: Command, context: Context): Decision<State, Event>
  /**
   * When the stream must be driven next, ms since the epoch; null: not before something new is recorded. This is all that
   * is common to what streams owe: the effects themselves differ by kind, so that the driver of each kind asks its own
   * state for them, and a document owes none.
   */
  wakeAt(state: State): number | null
  /** Hex SHA-256 over the fold's view of the state. */
  digest(state: State): string
  /** Command ids of requests that the state remembers, the latest `remembered` ones. */
  commands(state: State): readonly string[]
  readonly remembered: number
  /** The error that refuses a request. */
  reject(code: StreamRejection, message: string): Error
  readonly erasing: Erasing
  /** The events before the first one, where a stream goes on from another one of its kind. */
  inherited?(event: Event): Inherited | null
  /** The stream of the same owner that an event brings into being; null: none. */
  bears?(header: Header): string | null
  /** The type by which a driver claims a stream. Decoding a claim of a newer program throws LOG_NEWER. */
  readonly claim?: string | undefined
  /** Types of events that may name an attachment, and the one that a stored event names. */
  readonly attaching?: ReadonlySet<string>
  attachment?(header: Header, body: Uint8Array): Attachment | undefined
  /** Attachments that the drafts of a command name, with their bytes, which are stored before the append. */
  attached?(
    drafts: readonly Draft<State, Event>[],
    command: Command,
  ): readonly { readonly hash: string; readonly bytes: Uint8Array }[]
}

/** An aggregate of any kind, where only its events are read. */
export type AnyAggregate = Aggregate<unknown, StreamEvent, unknown>

/** The part of an aggregate that reading a history needs. */
export type Decoding<Event extends StreamEvent> = Pick<
  Aggregate<unknown, Event, unknown>,
  'decode' | 'decodeKept' | 'inherited'
>
