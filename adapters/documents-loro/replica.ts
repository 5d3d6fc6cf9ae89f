import { type ImportStatus, LoroDoc, type PeerID } from 'loro-crdt'
import { DocumentError } from '../../domain/document/errors.ts'
import type { Frontier } from '../../domain/document/model/frontier.ts'
import { BlockIndex } from './block-index.ts'
import { documentFrontier } from './frontiers.ts'
import { configureStyles } from './styles.ts'

/** A rebuilt replica takes the updates since its snapshot into a new one when there are more of them. */
const MAX_TAIL = 1000

/** A Loro document that can be built again as it was before a discarded change. */
export class Replica {
  readonly #peer: PeerID
  #snapshot: Uint8Array | null
  #tail: Uint8Array[]
  doc: LoroDoc
  index: BlockIndex
  /** Null: not asked for since the last change. Loro takes as long to tell it as for a small edit. */
  #frontier: Frontier | null = null

  constructor(peer: PeerID, snapshot: Uint8Array | null, updates: readonly Uint8Array[]) {
    this.#peer = peer
    this.#snapshot = snapshot
    this.#tail = [...updates]
    this.doc = this.#build()
    this.index = new BlockIndex(this.doc)
  }

  get frontier(): Frontier {
    this.#frontier ??= documentFrontier(this.doc)
    return this.#frontier
  }

  /** To be called with every change of the document. */
  changes(): void {
    this.#frontier = null
  }

  /** Notes a stored update that the document already contains. */
  stored(update: Uint8Array): void {
    this.#tail.push(update)
  }

  /** Throws away every operation that is not stored. */
  rebuild(): void {
    this.free()
    this.doc = this.#build()
    this.changes()
    this.index = new BlockIndex(this.doc)
    if (this.#tail.length > MAX_TAIL) this.snapshot()
  }

  /** The document with its history; later rebuilds begin with it. */
  snapshot(): Uint8Array {
    this.#snapshot = this.doc.export({ mode: 'snapshot' })
    this.#tail = []
    return this.#snapshot
  }

  /** Imports an update without a description of its changes; the index is read anew. */
  importUnseen(update: Uint8Array): ImportStatus {
    const status = this.doc.import(update)
    this.index = new BlockIndex(this.doc)
    return status
  }

  free(): void {
    try {
      this.doc.free()
    } catch {
      // A trap within Loro leaves the document borrowed for ever: its memory is lost.
    }
  }

  #build(): LoroDoc {
    const doc = new LoroDoc()
    try {
      configureStyles(doc)
      const { pending } = doc.importBatch([...(this.#snapshot === null ? [] : [this.#snapshot]), ...this.#tail])
      if (pending !== null && pending.size > 0) throw new Error('updates before these are missing')
      doc.setPeerId(this.#peer)
      return doc
    } catch (cause) {
      doc.free()
      throw new DocumentError('DOCUMENT_CORRUPT', `the stored updates make no document: ${reason(cause)}`, { cause })
    }
  }
}

/** Loro throws strings as well as errors. */
export const reason = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))
