import { decodeImportBlobMeta, type ImportStatus, LoroDoc, type PeerID } from 'loro-crdt'
import { DocumentError } from '../../domain/document/errors.ts'
import { configureStyles } from './styles.ts'

/** The number of updates by which the base advances. Most updates of a person build on more recent operations. */
const STRIDE = 64

/** A shallow snapshot of the document at an earlier time, and the updates from then to the base. */
interface Root {
  readonly bytes: Uint8Array
  readonly since: readonly Uint8Array[]
}

/**
 * The stored updates of a document, from which replicas are built. The time to build a replica with the whole history
 * grows with the history, because Loro unpacks all of it for the first imported update. The time to build a shallow
 * replica, which begins some updates ago, does not grow.
 */
export class StoredUpdates {
  #snapshot: Uint8Array | null
  /** The updates after the base, or after the snapshot if there is no base. */
  #tail: Uint8Array[]
  /** A replica that contains only stored operations. Null: not needed yet. */
  #base: LoroDoc | null = null
  /** The shallow snapshot of the base. */
  #newer: Uint8Array | null = null
  /** The shallow snapshot of the previous base. Null: a replica cannot begin there. */
  #older: Root | null = null

  readonly #gatewayPeer: PeerID

  constructor(gatewayPeer: PeerID, snapshot: Uint8Array | null, updates: readonly Uint8Array[]) {
    this.#gatewayPeer = gatewayPeer
    this.#snapshot = snapshot
    this.#tail = [...updates]
  }

  add(update: Uint8Array): void {
    this.#tail.push(update)
  }

  /** A replica with the whole history. */
  whole(): LoroDoc {
    return this.#base === null ? this.#fromSnapshot(this.#tail) : withUpdates(this.#base.fork(), this.#tail)
  }

  /** A replica with only the end of the history, or with all of it if Loro cannot cut it. */
  recent(): LoroDoc {
    if (this.#base === null || this.#tail.length >= STRIDE) this.#advance()
    return this.#shallow() ?? this.whole()
  }

  /** A snapshot of the document with its history. `doc` contains the stored updates and no other operation. */
  snapshot(doc: LoroDoc): Uint8Array {
    if (this.#base !== null) {
      this.#advance()
      const whole = this.whole()
      const snapshot = whole.export({ mode: 'snapshot' })
      whole.free()
      return snapshot
    }
    this.#snapshot = doc.export({ mode: 'snapshot' })
    this.#tail = []
    return this.#snapshot
  }

  free(): void {
    this.#base?.free()
    this.#base = null
  }

  #advance(): void {
    if (this.#base === null) {
      const updates = this.#taken(this.#tail.slice(0, -STRIDE))
      this.#base = this.#fromSnapshot(updates)
      this.#snapshot = null
      this.#newer = rootOf(this.#base)
      this.#older = this.#newer && { bytes: this.#newer, since: [] }
    } else {
      const base = this.#base
      const updates = this.#taken(this.#tail)
      this.#base = null
      this.#base = withUpdates(base, updates)
      this.#older = this.#newer && { bytes: this.#newer, since: updates }
      this.#newer = rootOf(this.#base)
    }
  }

  /**
   * Removes updates from the front of the tail, up to the last one of the gateway, which builds on all updates before
   * it. Loro cuts a history fast if it has one end; otherwise the time grows with the history.
   */
  #taken(updates: readonly Uint8Array[]): Uint8Array[] {
    const last = updates.findLastIndex((update) =>
      decodeImportBlobMeta(update, false).partialEndVersionVector.toJSON().has(this.#gatewayPeer),
    )
    return this.#tail.splice(0, last < 0 ? updates.length : last + 1)
  }

  #fromSnapshot(updates: readonly Uint8Array[]): LoroDoc {
    return withUpdates(new LoroDoc(), this.#snapshot === null ? updates : [this.#snapshot, ...updates])
  }

  #shallow(): LoroDoc | null {
    if (this.#older === null) return null
    try {
      return withUpdates(new LoroDoc(), [this.#older.bytes, ...this.#older.since, ...this.#tail])
    } catch {
      // A person's update builds on an operation before the root.
      this.#older = null
      return null
    }
  }
}

/**
 * A shallow snapshot. Null: the history has several ends, or Loro cannot cut it. For example, a person's update made a
 * container of a kind that Loro does not decode.
 */
function rootOf(doc: LoroDoc): Uint8Array | null {
  const frontiers = doc.oplogFrontiers()
  if (frontiers.length > 1) return null
  try {
    return doc.export({ mode: 'shallow-snapshot', frontiers })
  } catch {
    return null
  }
}

function withUpdates(doc: LoroDoc, updates: readonly Uint8Array[]): LoroDoc {
  try {
    configureStyles(doc)
    if (updates.length > 0) imported(doc.importBatch([...updates]))
    return doc
  } catch (cause) {
    doc.free()
    throw corrupt('the stored updates make no document', cause)
  }
}

/** Throws if operations are missing. */
export function imported({ pending }: ImportStatus): void {
  if (pending !== null && pending.size > 0) throw new Error('updates before these are missing')
}

export const corrupt = (what: string, cause: unknown): DocumentError =>
  new DocumentError('DOCUMENT_CORRUPT', `${what}: ${reason(cause)}; open it anew`, { cause })

/** Loro throws strings as well as errors. */
export const reason = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))
