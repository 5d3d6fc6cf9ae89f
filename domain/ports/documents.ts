import type { Element } from '../document/markup/tree.ts'
import type { DocumentBlock } from '../document/model/block.ts'
import type { Edit } from '../document/model/edits.ts'
import type { DocumentReader } from '../document/model/view.ts'

/**
 * Parses one XML element with its content. Supports XML's five entities and character references, no other entities,
 * and no DTD. Bad text never throws. The caller must check the size before.
 */
export type MarkupParser = (xml: string, limits: { readonly depth: number; readonly nodes: number }) => ParsedMarkup

/** The tree of a text, or why there is none. `message` says what to send instead. */
export type ParsedMarkup =
  | { readonly kind: 'tree'; readonly root: Element }
  /** Too deep, too many nodes, a DTD, or another entity than XML's five. */
  | { readonly kind: 'limits'; readonly message: string }
  | { readonly kind: 'malformed'; readonly message: string }

/** The stored data of a document, for opening it. */
export interface StoredDocument {
  /** The peer of the gateway's edits to this document: an unsigned 64-bit number in decimal digits. */
  readonly gatewayPeer: string
  /** The result of `OpenDocument.snapshot` at an earlier revision. */
  readonly snapshot?: Uint8Array
  /** The stored updates in stream order; with a snapshot, only the updates after it. */
  readonly updates: Iterable<Uint8Array> | AsyncIterable<Uint8Array>
}

/** Opens scratch replicas of documents. */
export interface Documents {
  /** Rejects with a `DocumentError` `DOCUMENT_CORRUPT` if the stored bytes are not a valid document. */
  open(stored: StoredDocument): Promise<OpenDocument>
  /** The operations in a stored update. */
  operations(update: Uint8Array): readonly OperationRange[]
}

/**
 * A lasting scratch replica of a document at one revision of its stream. The replica makes a change first. The caller
 * then appends the change's update and keeps the change, or discards the change after a conflict. A replica can have
 * one open change; all other methods throw until the change is kept or discarded.
 */
export interface OpenDocument extends DocumentReader {
  /**
   * The blocks and table cells with a text in document order, each with the operations that wrote its parts. Throws if
   * the document changes in between.
   */
  authorship(): Iterable<AuthoredSpan>
  /** The anchor of a range of a span's text. The range must be in the text and not be empty. */
  anchor(spanId: string, range: Omit<TextRange, 'text'>): TextAnchor
  /** The present range of an anchor in a span. Empty: its characters were deleted. Null: the span has another text. */
  range(spanId: string, anchor: TextAnchor): TextRange | null
  /** All blocks in document order. Blocks outside the document model have the type `unreadable`. */
  blocks(): readonly ReadBlock[]
  /** Makes edits that a dry-run at this revision has validated. Makes all of them, or none if it throws. */
  edit(edits: readonly Edit[]): PendingChange
  /**
   * Like {@link edit}, with yields between steps. The caller may pause between the steps and must run them to the end.
   */
  editing(edits: readonly Edit[]): Generator<undefined, PendingChange>
  /** Imports the update of a person's replica. */
  import(update: Uint8Array): ImportedUpdate
  /** Imports a stored update that another writer appended. Throws `DOCUMENT_CORRUPT` if the update does not fit. */
  follow(update: Uint8Array): void
  /**
   * The document with its history, for opening it again. The replica then drops the updates that it keeps for a
   * rebuild. Call this from time to time, so that these updates do not accumulate.
   */
  snapshot(): Uint8Array
  close(): void
}

/** The ends of a range, which follow their characters through edits. Base64. */
export interface TextAnchor {
  readonly start: string
  readonly end: string
}

/** A range of a text in UTF-16 units, `end` exclusive. */
export interface TextRange {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Operations of one peer: counters `from` to `to`, exclusive. */
export interface OperationRange {
  readonly peer: string
  readonly from: number
  readonly to: number
}

/** The parts of a block or table cell. Empty: no text. */
export interface AuthoredSpan {
  readonly spanId: string
  readonly parts: readonly AuthoredPart[]
}

/** Text written by operations with consecutive counters. `chars`: the number of code points. */
export interface AuthoredPart {
  readonly text: string
  readonly peer: string
  readonly counter: number
  readonly chars: number
}

/** A block, or a part of the document whose content is outside the document model. */
export type ReadBlock = DocumentBlock | { readonly type: 'unreadable'; readonly id: string | null }

/** A change on the replica that is not yet part of the document. */
export interface PendingChange {
  /** The bytes that the stream stores. */
  readonly update: Uint8Array
  /** The document's frontier including the change. */
  readonly frontier: string
  /** Call after the update was appended. */
  keep(): void
  /** Call if the update was not appended and never will be. Rebuilds the replica without the change. */
  discard(): void
}

/** `words`: all text in the update's operations, and the resulting text around each changed place. */
export interface ImportedChange {
  readonly kind: 'imported'
  readonly change: PendingChange
  readonly words: readonly string[]
}

/** The outcome of an update from an editor. */
export type ImportedUpdate =
  | ImportedChange
  /** The document already has the whole update. */
  | { readonly kind: 'known' }
  /**
   * HTTP 422 for `missing_dependencies` and `outside_model`, 413 for `too_many_operations`, 400 for the others.
   * `message` says what to send.
   */
  | {
      readonly kind: 'refused'
      readonly reason: 'malformed' | 'gateway_peer' | 'missing_dependencies' | 'outside_model' | 'too_many_operations'
      readonly message: string
    }
