import type { AuthoredPart } from '../../ports/index.ts'
import { history } from '../../stream/runtime/history.ts'
import type { StreamProof } from '../../stream/runtime/stream-proof.ts'
import { verifyStream } from '../../stream/runtime/verify.ts'
import { yielder } from '../../stream/runtime/yield-to-event-loop.ts'
import { DocumentError } from '../errors.ts'
import { document, documentStream } from '../stream/aggregate.ts'
import { entryOf, type HistoryEntry } from '../stream/entry.ts'
import type { DocumentEvent } from '../stream/events.ts'
import { KnownOwners } from './known-owners.ts'
import { type OpenedAt, openAt } from './open-at.ts'
import type { OperationOwners } from './operation-owners.ts'
import { ReplicaCache } from './replica-cache.ts'
import type { DocumentAt, DocumentPorts } from './types.ts'

/** A part of a span's text, written by one update. */
export interface BlamedPart {
  readonly text: string
  /** The revision of the update; null: no update of the stream contains the part. */
  readonly revision: number | null
}

/** Who wrote each part of a document at a revision. */
export interface Blame {
  readonly documentId: string
  readonly revision: number
  readonly spans: readonly { readonly span_id: string; readonly parts: readonly BlamedPart[] }[]
  /** The updates that the parts refer to. */
  readonly sources: readonly HistoryEntry[]
}

/** The proof of a document. `frontier` and `root`: those of its last revision. */
export interface DocumentProof extends StreamProof {
  readonly frontier: string
  readonly root: string
}

/** Reads earlier revisions of a document and its changes. Changes nothing. */
export class DocumentHistory {
  readonly #ports: DocumentPorts
  readonly #cache: ReplicaCache
  readonly #owners: KnownOwners

  constructor(ports: DocumentPorts, cache: ReplicaCache) {
    this.#ports = ports
    this.#cache = cache
    this.#owners = new KnownOwners(ports)
  }

  /** The document after an event of its stream, or after its last event if that is earlier. */
  async at(documentId: string, revision: number): Promise<DocumentAt> {
    const opened = await this.#open(documentId, revision)
    try {
      const { title, frontier, root } = opened.state
      return { documentId, title, revision: opened.revision, frontier, root, blocks: opened.replica.blocks() }
    } finally {
      opened.replica.close()
    }
  }

  /** Entries after a revision, at most `limit`, in order. */
  async entries(documentId: string, after: number, limit: number): Promise<readonly HistoryEntry[]> {
    const found: HistoryEntry[] = []
    let before: DocumentEvent | null = null
    // Also read the event before: an answer's entry needs its request.
    for await (const page of history(this.#ports, document, documentStream(documentId), { from: Math.max(0, after) })) {
      for (const { event } of page) {
        const entry = event.revision > after ? entryOf(event, before) : null
        if (entry !== null) found.push(entry)
        if (found.length === limit) return found
        before = event
      }
    }
    if (found.length === 0) await this.#mustExist(documentId)
    return found
  }

  /** The update that wrote each part of each span. */
  async blame(documentId: string, revision: number): Promise<Blame> {
    const opened = await this.#open(documentId, revision)
    try {
      const owners = await this.#owners.upTo(documentId, opened.revision)
      const spans: Blame['spans'][number][] = []
      const named = new Set<number>()
      const pause = yielder()
      for (const { spanId: span_id, parts: authored } of opened.replica.authorship()) {
        const parts = authored.flatMap((part) => blamed(part, owners))
        for (const part of parts) if (part.revision !== null) named.add(part.revision)
        spans.push({ span_id, parts: merged(parts) })
        await pause()
      }
      const revisions = [...named].sort((a, b) => a - b)
      const sources = await this.#entries(documentId, revisions)
      return { documentId, revision: opened.revision, spans, sources }
    } finally {
      opened.replica.close()
    }
  }

  /** Verifies the stream, and that its updates alone produce the recorded frontier and root. */
  async verify(documentId: string): Promise<DocumentProof> {
    const stream = documentStream(documentId)
    await this.#mustExist(documentId)
    const proof = await verifyStream(this.#ports, document, stream)
    try {
      const opened = await openAt(this.#ports, new ReplicaCache({}), stream, Number.MAX_SAFE_INTEGER)
      const { frontier = '', root = '' } = opened?.state ?? {}
      opened?.replica.close()
      return { ...proof, frontier, root }
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      const problem = { revision: proof.events - 1, code: 'DIGEST', message } as const
      return { ...proof, ok: false, problems: [...proof.problems, problem], frontier: '', root: '' }
    }
  }

  async #open(documentId: string, revision: number): Promise<OpenedAt> {
    const opened = await openAt(this.#ports, this.#cache, documentStream(documentId), revision)
    if (opened === null) throw new DocumentError('DOCUMENT_UNKNOWN', 'there is no such document')
    return opened
  }

  async #mustExist(documentId: string): Promise<void> {
    if ((await this.#ports.log.head(documentStream(documentId))) !== null) return
    throw new DocumentError('DOCUMENT_UNKNOWN', 'there is no such document')
  }

  /** The entries of some updates. `revisions`: in ascending order. */
  async #entries(documentId: string, revisions: readonly number[]): Promise<readonly HistoryEntry[]> {
    const found: HistoryEntry[] = []
    const wanted = new Set(revisions)
    for (const part of stretches(revisions)) {
      let before: DocumentEvent | null = null
      for await (const page of history(this.#ports, document, documentStream(documentId), part)) {
        for (const { event } of page) {
          const entry = wanted.has(event.revision) ? entryOf(event, before) : null
          if (entry !== null) found.push(entry)
          before = event
        }
      }
    }
    return found
  }
}

/** A read costs as much as some dozen events, so one read covers revisions that are closer than this. */
const NEAR = 32

/** Parts of a stream that contain these revisions, which ascend, and the event before each. */
function stretches(revisions: readonly number[]): readonly { readonly from: number; readonly to: number }[] {
  const parts: { from: number; to: number }[] = []
  for (const revision of revisions) {
    const last = parts.at(-1)
    if (last !== undefined && revision - last.to <= NEAR) last.to = revision
    else parts.push({ from: Math.max(0, revision - 1), to: revision })
  }
  return parts
}

/** Splits a part if several updates contain its operations. */
function blamed({ text, peer, counter }: AuthoredPart, owners: OperationOwners): BlamedPart[] {
  const parts: { text: string; revision: number | null }[] = []
  let end = counter
  let at = counter
  for (const char of text) {
    const last = parts.at(-1)
    if (last === undefined || at >= end) {
      const owner = owners.of(peer, at)
      parts.push({ text: char, revision: owner?.revision ?? null })
      end = owner?.to ?? Number.POSITIVE_INFINITY
    } else last.text += char
    at += 1
  }
  return parts
}

function merged(parts: readonly BlamedPart[]): readonly BlamedPart[] {
  const out: { text: string; revision: number | null }[] = []
  for (const { text, revision } of parts) {
    const last = out.at(-1)
    if (last !== undefined && last.revision === revision) last.text += text
    else out.push({ text, revision })
  }
  return out
}
