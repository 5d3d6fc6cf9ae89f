import type { Header, RecordedEvent } from '../../../domain/log/envelope.ts'
import type { BlobStore, EventLog } from '../../../domain/ports/index.ts'
import type { Change } from './change.ts'
import type { Poison } from './poison.ts'

/** The residues of erased bodies of one stream. */
export interface Residues {
  /** The residue of an erased event; null: none. Throws LogError where it cannot be read. */
  of(header: Header): Promise<{ readonly body: unknown } | null>
}

/**
 * How the events of one kind of stream become rows. `E`: an event as the row rules take it. A kind without an entry in
 * `KINDS` makes no rows of its own; its heads, kept events, wake times, erasures and parking are those of any stream.
 */
export interface StreamKind<E = unknown> {
  /** The oldest reader that the writer of an event accepts, from its body; 1 unless the body asks for more. */
  minReader(event: RecordedEvent, body: Uint8Array | null): number
  /** An event as the row rules take it, or the reason why it must park its stream. `body` null: erased, except for `residue`. */
  decode(event: RecordedEvent, body: Uint8Array | null, residue: unknown): E | { readonly poison: Poison }
  /** The row changes of an event. Pure: the same event always gives the same changes. */
  changes(event: E): Change[]
  /** The revision of an earlier event of the stream whose content the rows of this one show; null: none. */
  referenceOf(event: E): number | null
  /** An event with the content that it refers to. `referred` null: it cannot be read. */
  withReferred(event: E, referred: E | null): E
  /** The row changes that mark an owner whose stream was parked at a revision. */
  parked(ownerId: string, revision: number): Change[]
  /** A stored body in the current version of its type; null: it is current already, or cannot be brought up. */
  upcast(header: Header, body: string): unknown
  residues(stores: { readonly log: EventLog; readonly blobs: BlobStore }, stream: string): Residues
}
