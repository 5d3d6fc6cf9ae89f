import type { ImportStatus, LoroDoc, PeerID } from 'loro-crdt'
import type { Frontier } from '../../domain/document/model/frontier.ts'
import { BlockIndex } from './block-index.ts'
import { documentFrontier } from './frontiers.ts'
import { corrupt, imported, StoredUpdates } from './stored-updates.ts'

/** A Loro document that can be rebuilt without a discarded change. */
export class Replica {
  readonly #peer: PeerID
  readonly #stored: StoredUpdates
  doc: LoroDoc
  index: BlockIndex
  /** Null: not read since the last change. Reading it from Loro takes as long as a small edit. */
  #frontier: Frontier | null = null

  constructor(peer: PeerID, snapshot: Uint8Array | null, updates: readonly Uint8Array[]) {
    this.#peer = peer
    this.#stored = new StoredUpdates(peer, snapshot, updates)
    this.doc = this.#editable(() => this.#stored.whole())
    this.index = new BlockIndex(this.doc)
  }

  get frontier(): Frontier {
    this.#frontier ??= documentFrontier(this.doc)
    return this.#frontier
  }

  /** Call with every change of the document. */
  changes(): void {
    this.#frontier = null
  }

  /** Notes a stored update that the document already contains. */
  stored(update: Uint8Array): void {
    this.#stored.add(update)
  }

  /** Imports a stored update. */
  follow(update: Uint8Array): void {
    this.changes()
    try {
      imported(this.index.importing(() => this.doc.import(update)))
      this.stored(update)
    } catch (cause) {
      const isShallow = this.doc.isShallow()
      this.deepen()
      if (!isShallow) throw corrupt('a stored update does not fit', cause)
      this.follow(update)
    }
  }

  /** Discards every operation that is not stored. The document then has only the end of its history: `isShallow()`. */
  rebuild(): void {
    this.#become(() => this.#stored.recent())
  }

  /** Reads the whole history again and discards every operation that is not stored. */
  deepen(): void {
    this.#become(() => this.#stored.whole())
  }

  /** A snapshot of the document with its history. Later openings begin with it. */
  snapshot(): Uint8Array {
    return this.#stored.snapshot(this.doc)
  }

  /** Imports an update without a description of its changes, and rebuilds the index. */
  importUnseen(update: Uint8Array): ImportStatus {
    const status = this.doc.import(update)
    this.index.free()
    this.index = new BlockIndex(this.doc)
    return status
  }

  free(): void {
    this.#freeDoc()
    this.#stored.free()
  }

  #freeDoc(): void {
    try {
      this.index.free()
      this.doc.free()
    } catch {
      // After a trap in Loro the document remains borrowed for ever, and its memory is lost.
    }
  }

  #become(make: () => LoroDoc): void {
    const doc = this.#editable(make)
    this.#freeDoc()
    this.doc = doc
    this.changes()
    this.index = new BlockIndex(this.doc)
  }

  #editable(make: () => LoroDoc): LoroDoc {
    const doc = make()
    doc.setPeerId(this.#peer)
    return doc
  }
}
