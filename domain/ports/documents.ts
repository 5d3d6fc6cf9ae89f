import type { Element } from '../document/markup/tree.ts'
import type { Block } from '../document/model/block.ts'
import type { Edit } from '../document/model/edits.ts'
import type { DocumentView } from '../document/model/view.ts'

/**
 * Parses one XML element with its content. It knows XML's five entities and character references, and no other entity; it
 * reads no DTD. It throws nothing for bad text. The caller has checked the size.
 */
export type MarkupParser = (xml: string, limits: { readonly depth: number; readonly nodes: number }) => ParsedMarkup

export type ParsedMarkup =
  | { readonly kind: 'tree'; readonly root: Element }
  /** Too deep, too many nodes, a DTD, or an entity beyond XML's five. */
  | { readonly kind: 'limits'; readonly message: string }
  | { readonly kind: 'malformed'; readonly message: string }

/** The stored data that a document is opened from. */
export interface StoredDocument {
  /** The peer under which the gateway edits this document: an unsigned 64-bit number in decimal digits. */
  readonly gatewayPeer: string
  /** The result of `OpenDocument.snapshot` at an earlier revision. */
  readonly snapshot?: Uint8Array
  /** The stored updates, in stream order; those after the snapshot where there is one. */
  readonly updates: Iterable<Uint8Array> | AsyncIterable<Uint8Array>
}

/** Makes scratch replicas of documents. */
export interface Documents {
  /** Rejects with a `DocumentError` `DOCUMENT_CORRUPT` where the stored bytes are not those of a document. */
  open(stored: StoredDocument): Promise<OpenDocument>
  /** The operations that a stored update contains. */
  operations(update: Uint8Array): readonly OperationRange[]
}

/**
 * One lasting scratch replica of a document at one revision of its stream. A change is made on the replica first. The caller
 * appends the change's update and keeps the change, or discards it after a conflict. A replica holds one such change at a
 * time; every other method is refused until the change is kept or discarded.
 */
export interface OpenDocument extends DocumentView {
  /** The parts of a block's or table cell's text, each with the operation that wrote its first character. Empty: no text. */
  authorship(spanId: string): readonly AuthoredPart[]
  /** All blocks in document order. Blocks outside the document model have the type `unreadable`. */
  blocks(): readonly ReadBlock[]
  /** Makes edits that a dry-run at this revision has found possible: all of them, or none where it throws. */
  edit(edits: readonly Edit[]): PendingChange
  /** {@link edit} in steps: the caller gives way to others between them, and goes on to the end. */
  editing(edits: readonly Edit[]): Generator<undefined, PendingChange>
  /** Imports the update of a person's replica. */
  import(update: Uint8Array): ImportedUpdate
  /** Takes in a stored update that another writer has appended. Throws `DOCUMENT_CORRUPT` where it does not fit. */
  follow(update: Uint8Array): void
  /**
   * The document with its history, to open it from. The replica then forgets the updates that it holds for a rebuild, so
   * that their bytes do not accumulate: call it from time to time.
   */
  snapshot(): Uint8Array
  close(): void
}

/** Operations of one peer: counters `from` to `to`, exclusive. */
export interface OperationRange {
  readonly peer: string
  readonly from: number
  readonly to: number
}

/** Text whose characters were written by operations with consecutive counters. `chars`: code points. */
export interface AuthoredPart {
  readonly text: string
  readonly peer: string
  readonly counter: number
  readonly chars: number
}

/** A block as it is, or a place in the document whose content lies outside the document model. */
export type ReadBlock = Block | { readonly type: 'unreadable'; readonly id: string | null }

/** A change on the replica that is not yet part of the document. */
export interface PendingChange {
  /** The bytes that the stream stores. */
  readonly update: Uint8Array
  /** The document's frontier with the change. */
  readonly frontier: string
  /** The update was appended. */
  keep(): void
  /** The update was not appended and never will be: the replica is rebuilt without it. */
  discard(): void
}

/** `words`: every text in the update's operations, and what stands around each place that it changes as it reads now. */
export interface ImportedChange {
  readonly kind: 'imported'
  readonly change: PendingChange
  readonly words: readonly string[]
}

export type ImportedUpdate =
  | ImportedChange
  /** The document has all of it. */
  | { readonly kind: 'known' }
  /** HTTP 422 for `missing_dependencies` and `outside_model`, 413 for `too_many_operations`, 400 for the others. `message` says what to send. */
  | {
      readonly kind: 'refused'
      readonly reason: 'malformed' | 'gateway_peer' | 'missing_dependencies' | 'outside_model' | 'too_many_operations'
      readonly message: string
    }
