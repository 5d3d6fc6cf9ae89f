import type { PeerID } from 'loro-crdt'
import { DocumentError } from '../../domain/document/errors.ts'
import type { Edit } from '../../domain/document/model/edits.ts'
import { type Frontier, type FrontierRelation, frontierText } from '../../domain/document/model/frontier.ts'
import type { SpanView } from '../../domain/document/model/view.ts'
import { atOnce } from '../../domain/log/steps.ts'
import type {
  AuthoredSpan,
  ImportedUpdate,
  OpenDocument,
  PendingChange,
  ReadBlock,
  TextAnchor,
  TextRange,
} from '../../domain/ports/index.ts'
import { anchorOf, rangeOf } from './anchors.ts'
import { applyEdits } from './apply-edits.ts'
import { authoredParts, InsertedRuns } from './authorship.ts'
import { relationTo } from './frontiers.ts'
import { importPerson } from './import-person.ts'
import { describedFault } from './person-update.ts'
import type { Replica } from './replica.ts'
import { reason } from './stored-updates.ts'

/** An open document on one permanent replica. */
export class LoroDocument implements OpenDocument {
  readonly #gatewayPeer: PeerID
  #replica: Replica | null
  #changing = false

  constructor(replica: Replica, gatewayPeer: PeerID) {
    this.#replica = replica
    this.#gatewayPeer = gatewayPeer
  }

  get frontier(): string {
    return frontierText(this.#free().frontier)
  }

  relation(client: Frontier): FrontierRelation {
    const { doc, frontier } = this.#free()
    return relationTo(doc, client, frontier)
  }

  span(spanId: string): SpanView {
    return this.#free().index.span(spanId)
  }

  blocks(): readonly ReadBlock[] {
    const { index } = this.#free()
    const seen = new Map<string, number>()
    const read = index.blocks()
    for (const { id } of read) if (id !== null) seen.set(id, (seen.get(id) ?? 0) + 1)
    // Mark both blocks with the same id as unreadable: the id is ambiguous.
    return read.map((block) => ((seen.get(block.id ?? '') ?? 0) > 1 ? { type: 'unreadable', id: block.id } : block))
  }

  *authorship(): Generator<AuthoredSpan> {
    const { doc, index } = this.#free()
    const runs = new InsertedRuns(doc)
    for (const { spanId, text } of index.texts()) {
      this.#free()
      yield { spanId, parts: authoredParts(text, runs) }
      text.free()
    }
  }

  anchor(spanId: string, range: Omit<TextRange, 'text'>): TextAnchor {
    const text = this.#free().index.text(spanId)
    if (text === null) throw new Error(`the span "${spanId}" has no text`)
    return anchorOf(text, range)
  }

  range(spanId: string, anchor: TextAnchor): TextRange | null {
    const replica = this.#free()
    // A shallow document does not know the characters that were deleted before its start.
    if (replica.doc.isShallow()) replica.deepen()
    const text = replica.index.text(spanId)
    return text === null ? null : rangeOf(replica.doc, text, anchor)
  }

  *editing(edits: readonly Edit[]): Generator<undefined, PendingChange> {
    const replica = this.#free()
    this.#changing = true
    const from = replica.doc.oplogVersion()
    replica.changes()
    try {
      yield* applyEdits(edits, replica.index)
      replica.doc.commit()
    } catch (cause) {
      this.#changing = false
      this.#rebuild(replica)
      throw new DocumentError('EDIT_INVALID', `the edits do not fit the document: ${reason(cause)}`, { cause })
    }
    return this.#pending(replica, replica.doc.export({ mode: 'update', from }))
  }

  edit(edits: readonly Edit[]): PendingChange {
    return atOnce(this.editing(edits))
  }

  import(update: Uint8Array): ImportedUpdate {
    const replica = this.#free()
    const fault = describedFault(replica.doc, update, this.#gatewayPeer)
    if (fault !== null) return fault
    // Loro detects fewer faults on a shallow document, which has only the end of its history.
    if (replica.doc.isShallow()) replica.deepen()
    replica.changes()
    const found = importPerson(replica, update, this.#gatewayPeer)
    if ('words' in found) return { kind: 'imported', ...found, change: this.#pending(replica, update) }
    this.#rebuild(replica)
    return found
  }

  follow(update: Uint8Array): void {
    this.#free().follow(update)
  }

  snapshot(): Uint8Array {
    return this.#free().snapshot()
  }

  close(): void {
    this.#replica?.free()
    this.#replica = null
  }

  /** Closes the document if the rebuild fails: the replica still contains changes that are not stored. */
  #rebuild(replica: Replica): void {
    try {
      replica.rebuild()
    } catch (error) {
      this.close()
      throw error
    }
  }

  #pending(replica: Replica, update: Uint8Array): PendingChange {
    this.#changing = true
    let settled = false
    const settle = (how: () => void) => () => {
      if (settled) throw new DocumentError('DOCUMENT_BUSY', 'the change was kept or discarded before; settle it once')
      if (this.#replica === null) throw closed()
      settled = true
      this.#changing = false
      how()
    }
    return {
      update,
      frontier: frontierText(replica.frontier),
      keep: settle(() => replica.stored(update)),
      discard: settle(() => this.#rebuild(replica)),
    }
  }

  #free(): Replica {
    if (this.#replica === null) throw closed()
    if (this.#changing) throw new DocumentError('DOCUMENT_BUSY', 'a change is on the replica; keep or discard it first')
    return this.#replica
  }
}

const closed = () => new DocumentError('DOCUMENT_CLOSED', 'the document is closed; open it anew')
