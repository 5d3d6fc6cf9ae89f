import type { Header, RecordedEvent } from '../../../domain/log/envelope.ts'
import type { BlobStore, EventLog } from '../../../domain/ports/index.ts'
import type { TableSpecs } from '../schema/columns.ts'
import type { Dialect } from '../schema/dialect.ts'
import type { Change } from './change.ts'
import type { Poison } from './poison.ts'

/** The residues of erased bodies of one stream. */
export interface ErasedResidues {
  /** The residue of an erased event; null: none. Rejects with LogError when the residue is unreadable. */
  of(header: Header): Promise<{ readonly body: unknown } | null>
}

/** SQL for each database, in order. */
export type Indexes = Readonly<Record<Dialect['name'], readonly string[]>>

/**
 * Converts the events of one kind of stream to rows. `E`: an event as the row rules take it. Every stream, even of a
 * kind without row rules, has its head, kept events, wake time, erasures and parking.
 */
export interface StreamKind<E = unknown, T extends TableSpecs = TableSpecs> {
  /** The first part of the streams' names. */
  readonly kind: string
  /** The tables of this kind. Their rows may come from streams of other kinds too. */
  readonly tables: T
  /** SQL of further indexes, which each database maintains by itself. */
  readonly indexes?: Indexes | undefined
  /** Current version of each type of event. */
  readonly versions: Readonly<Record<string, number>>
  /** The oldest reader that an event's writer accepts, from the event's body; 1 unless the body requires more. */
  minReader(event: RecordedEvent, body: Uint8Array | null): number
  /** Decodes an event, or returns the reason to park its stream. `body` null: erased; `residue`: what remains. */
  decode(event: RecordedEvent, body: Uint8Array | null, residue: unknown): E | { readonly poison: Poison }
  /** The row changes of an event. Pure: the same event always gives the same changes. */
  changes(event: E): Change[]
  /** The revision of an earlier event of the stream whose content the rows of this event show; null: none. */
  referenceOf(event: E): number | null
  /** Adds the content of the referred event. `referred` null: it is unreadable. */
  withReferred(event: E, referred: E | null): E
  /** The row changes that mark the owner of a stream parked at a revision. */
  parked(ownerId: string, revision: number): Change[]
  /** A stored body in the current version of its type; null: it is already current, or cannot be upcast. */
  upcast(header: Header, body: string): unknown
  residues(stores: { readonly log: EventLog; readonly blobs: BlobStore }, stream: string): ErasedResidues
}
