import { type ImportStatus, LoroDoc } from 'loro-crdt'
import { DocumentError } from '../../domain/document/errors.ts'
import { configureStyles } from './styles.ts'

/** An update that a person sends builds on operations that are at most about so many updates old. */
const RECENT = 64
/** So many updates are imported anew at most by each {@link StoredUpdates.recent}. */
const MAX_RECENT = 192

/**
 * The stored updates of a document, to build replicas from. A replica with the whole history takes a time that grows with
 * the history: Loro unpacks all of it for the first update that it imports. A shallow one, which begins with the document as
 * it stood some updates ago, takes a time that does not.
 */
export class StoredUpdates {
  #snapshot: Uint8Array | null
  /** The updates after the snapshot, or after the root where there is one. */
  #tail: Uint8Array[]
  /** A replica that never bears an operation that is not stored. Null: none was needed yet. */
  #base: LoroDoc | null = null
  /** As many updates of the tail as the base has. */
  #inBase = 0
  /** The document before the tail, without the history before it. */
  #root: Uint8Array | null = null

  constructor(snapshot: Uint8Array | null, updates: readonly Uint8Array[]) {
    this.#snapshot = snapshot
    this.#tail = [...updates]
  }

  add(update: Uint8Array): void {
    this.#tail.push(update)
  }

  /** A replica with the whole history. */
  whole(): LoroDoc {
    if (this.#base === null) return documentOf([...(this.#snapshot === null ? [] : [this.#snapshot]), ...this.#tail])
    this.#advanceBase(this.#tail.length)
    return copyOf(this.#base)
  }

  /**
   * A replica with the end of the history, or with all of it where Loro cannot cut it. An update that builds on an older
   * operation cannot be imported into it.
   */
  recent(): LoroDoc {
    if (this.#root === null || this.#tail.length > MAX_RECENT) this.#advanceRoot(this.#tail.length - RECENT)
    const found = this.#shallow()
    if (found !== null) return found
    this.#advanceRoot(this.#tail.length)
    return this.#shallow() ?? this.whole()
  }

  /** The document with its history. `doc` has the stored updates and no other operation. */
  snapshot(doc: LoroDoc): Uint8Array {
    if (this.#base !== null) {
      this.#advanceRoot(this.#tail.length - RECENT)
      return this.#advanceBase(this.#tail.length).export({ mode: 'snapshot' })
    }
    this.#snapshot = doc.export({ mode: 'snapshot' })
    this.#tail = []
    return this.#snapshot
  }

  free(): void {
    this.#base?.free()
    this.#base = null
  }

  #advanceBase(count: number): LoroDoc {
    this.#base ??= documentOf(this.#snapshot === null ? [] : [this.#snapshot])
    this.#snapshot = null
    const updates = this.#tail.slice(this.#inBase, count)
    if (updates.length > 0) take(this.#base, updates)
    this.#inBase = Math.max(this.#inBase, count)
    return this.#base
  }

  #advanceRoot(count: number): void {
    const base = this.#advanceBase(Math.max(0, count))
    this.#tail = this.#tail.slice(this.#inBase)
    this.#inBase = 0
    try {
      this.#root = base.export({ mode: 'shallow-snapshot', frontiers: base.oplogFrontiers() })
    } catch {
      // A person's update may contain containers of a kind that Loro keeps, and does not know.
      this.#root = null
    }
  }

  /** Null: an update of the tail builds on an operation before the root, or there is no root. */
  #shallow(): LoroDoc | null {
    if (this.#root === null) return null
    try {
      return documentOf([this.#root, ...this.#tail])
    } catch {
      return null
    }
  }
}

function documentOf(updates: Uint8Array[]): LoroDoc {
  const doc = new LoroDoc()
  try {
    configureStyles(doc)
    take(doc, updates)
    return doc
  } catch (error) {
    doc.free()
    throw error
  }
}

function copyOf(base: LoroDoc): LoroDoc {
  const doc = base.fork()
  configureStyles(doc)
  return doc
}

function take(doc: LoroDoc, updates: Uint8Array[]): void {
  try {
    imported(doc.importBatch(updates))
  } catch (cause) {
    throw corrupt('the stored updates make no document', cause)
  }
}

/** Throws where operations are missing. */
export function imported({ pending }: ImportStatus): void {
  if (pending !== null && pending.size > 0) throw new Error('updates before these are missing')
}

export const corrupt = (what: string, cause: unknown): DocumentError =>
  new DocumentError('DOCUMENT_CORRUPT', `${what}: ${reason(cause)}; open it anew`, { cause })

/** Loro throws strings as well as errors. */
export const reason = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))
