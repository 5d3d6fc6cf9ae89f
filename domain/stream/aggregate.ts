import type { z } from 'zod'
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

/** The inputs of a decision besides state and command: time, randomness and the caller. */
export interface StreamContext {
  /** Milliseconds since the epoch, not before the stream's last event. */
  readonly now: number
  /** 16 random bytes. */
  salt(): Uint8Array
  /** In [0, 1). */
  jitter(): number
  readonly by: Actor
  readonly commandId: string
  /** The outermost request that the caller named; absent: this request. */
  readonly correlationId?: string
  /** W3C trace context. */
  readonly trace?: string
}

/** The stream of a decision, without the namespace, and its last revision (-1: it does not exist). */
export interface StreamPlace {
  readonly stream: string
  readonly revision: number
}

/** Bytes outside the log that a body names, stored after a salt. `size`: without the salt. */
export interface AttachedBytes {
  /** SHA-256 of the stored bytes; their address. */
  readonly hash: string
  readonly size: number
}

/** The events before a stream's first one: those of another stream, up to a revision. */
export interface Inherited {
  readonly stream: string
  readonly revision: number
  readonly hash: string
  readonly digest: NonNullable<Header['digest']>
}

/** The bodies that an erasure may empty in a kind of stream, and their residues. */
export interface Erasing {
  /** Whether a body of this type may contain text of people, models or tools. */
  says(type: string): boolean
  /**
   * The part of a body that the fold needs, without that text, in the shape of its type's current version. No member may
   * confirm a guess of the text. `bodyHash`: of the erased body.
   */
  residue(type: string, body: unknown, bodyHash: string): unknown
  /** Reads a stream's headers in order and reports whether the stream has ended. Only ended streams may be erased. */
  ending(): { see(header: Header): void; readonly ended: boolean }
}

/** The reasons for which any stream may refuse a request. */
export type StreamRejection =
  | 'REVISION_CHANGED'
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'RUN_UNKNOWN'
  | 'RUN_ACTIVE'
  | 'EVENT_UNKNOWN'
  | 'NOT_ERASABLE'

/**
 * One kind of stream: it decodes, folds and decides events. All members are pure: no I/O, no clock, no randomness. The
 * runtime loads, decides, seals, appends, verifies and erases any stream through this interface alone.
 */
export interface Aggregate<State, Event extends StreamEvent, Command, Context extends StreamContext = StreamContext> {
  /** The first part of the streams' names: `<kind>-<id>`. */
  readonly kind: string
  /** One stream in the words of people, such as `fact`; absent: people see only the stream's name. */
  readonly noun?: string
  /** Version of the fold and of the view that its digests cover. */
  readonly fold: number
  /** Current version of each type of event. */
  readonly versions: Readonly<Record<string, number>>
  /** The schema of each type's current version. */
  readonly bodies: Readonly<Record<string, z.ZodType>>
  /**
   * Decodes a stored event to its current version. Throws LogError UNKNOWN_EVENT for a type or version that this
   * program does not know, LOG_NEWER when a newer program wrote the stream, and LOG_CORRUPT when the body is not JSON.
   */
  decode(header: Header, body: Uint8Array): Event
  /** Decodes an event whose body was erased, from its residue. Throws as {@link decode} does. */
  decodeKept(header: Header, kept: { readonly version: number; readonly body: unknown }): Event
  /** Throws as {@link decode} does when the header alone shows that this program cannot read the event. */
  checkKnown(header: Header): void
  /** Says how an event's body differs from its type's current shape; null when it does not. */
  fault(event: Event): string | null
  /** The state after an event. Throws when the event is impossible in this state. */
  evolve(state: State | null, event: Event): State
  /** The decision on a command. Throws when it refuses a request; it never refuses an outcome. */
  decide(state: State | null, place: StreamPlace, command: Command, context: Context): Decision<State, Event>
  /**
   * When the stream needs its driver next, ms since the epoch; null: not before another event. Open effects differ by
   * kind: the driver of each kind reads them from the state, and a document has none.
   */
  wakeAt(state: State): number | null
  /** Hex SHA-256 over the fold's view of the state. */
  digest(state: State): string
  /** The digest under an earlier fold; null: this program cannot compute digests of that fold. */
  earlierDigest?(fold: number, state: State): string | null
  /** The command ids that the state remembers: those of the latest `remembered` requests. */
  commands(state: State): readonly string[]
  readonly remembered: number
  /** The error of a refused request. */
  reject(code: StreamRejection, message: string): Error
  readonly erasing: Erasing
  /** The events before the first one, when the stream continues another stream of its kind. */
  inherited?(event: Event): Inherited | null
  /** The stream of the same owner that an event creates; null: none. */
  bears?(header: Header): string | null
  /** The type of the event by which a driver claims a stream. Decoding a claim of a newer program throws LOG_NEWER. */
  readonly claim?: string | undefined
  /** Types of events that may name an attachment, and the attachment that a stored event names. */
  readonly attaching?: ReadonlySet<string>
  attachment?(header: Header, body: Uint8Array): AttachedBytes | undefined
  /** The attachments that a command's drafts name, with their bytes. They are stored before the append. */
  attached?(
    drafts: readonly Draft<State, Event>[],
    command: Command,
  ): readonly { readonly hash: string; readonly bytes: Uint8Array }[]
}

/** An aggregate of any kind, for callers that only read its events. */
export type AnyAggregate = Aggregate<unknown, StreamEvent, unknown>

/** The part of an aggregate that reading a history needs. */
export type Decoding<Event extends StreamEvent> = Pick<
  Aggregate<unknown, Event, unknown>,
  'decode' | 'decodeKept' | 'inherited'
>
