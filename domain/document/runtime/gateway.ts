import { hex, runIdOf, sha256 } from '../../log/ids.ts'
import { isRepeated } from '../../stream/runtime/idempotency-keys.ts'
import { inSteps, yielder } from '../../stream/runtime/yield-to-event-loop.ts'
import { type Rebase, rebase } from '../envelope/after-conflict.ts'
import type { EnvelopeAnswer } from '../envelope/answers.ts'
import type { AiEnvelopeRequest } from '../envelope/request.ts'
import { DocumentError } from '../errors.ts'
import type { BlockContent } from '../model/block.ts'
import { document, documentStream, gateway, REFUSED_STREAM } from '../stream/aggregate.ts'
import type { GivenAnswer } from './answers.ts'
import { Discussions } from './discussions.ts'
import { Desk } from './document-desk.ts'
import { type EnvelopeErasure, eraseEnvelopeBody } from './erase-envelope.ts'
import { DocumentHistory } from './history.ts'
import { holdsSecret, searchedTexts } from './holds-secret.ts'
import { type EnvelopePreview, previewEnvelope } from './preview.ts'
import { ReplicaCache } from './replica-cache.ts'
import type { DocumentAt, DocumentCaller, DocumentPorts, Imported } from './types.ts'

/** The maximum number of open streams with replicas in memory. The least recently used one is closed first. */
const MAX_OPEN = 64

/** The maximum size of a person's update, in bytes. */
export const MAX_UPDATE = 1024 * 1024

export interface NewDocument {
  readonly title: string
  readonly source: 'empty' | 'markdown' | 'html'
  readonly blocks: readonly BlockContent[]
}

/** The identity of a repeatable creation. Another key or another content gives another `commandId`. */
export interface CreationKey {
  readonly documentId: string
  readonly commandId: string
}

/** A document, and whether this request created it or an earlier one with the same key. */
export interface Created {
  readonly documentId: string
  readonly made: boolean
}

/**
 * AI Gateway (seed 000): the only way to change documents. Judges each agent request and each person's update, records
 * it, and applies it.
 */
export class DocumentGateway {
  readonly #ports: DocumentPorts
  readonly #cache: ReplicaCache
  readonly #refused: Desk
  readonly #desks = new Map<string, Desk>()
  readonly history: DocumentHistory
  readonly discussions: Discussions

  constructor(ports: DocumentPorts) {
    this.#ports = ports
    this.#cache = new ReplicaCache(ports)
    this.history = new DocumentHistory(ports, this.#cache)
    this.discussions = new Discussions(ports, async (documentId) => {
      await this.#mustExist(documentId)
      return this.#desk(documentId)
    })
    this.#refused = new Desk(ports, gateway, REFUSED_STREAM, this.#cache)
  }

  /**
   * Creates a document. If a request with the same key created it before, returns that document; `made` is then false.
   * Rejects with `CONTENT_REFUSED` if the content contains a secret, and with `IDEMPOTENCY_KEY_REUSED` if the key came
   * with another content.
   */
  async create(content: NewDocument, caller: DocumentCaller, key?: CreationKey): Promise<Created> {
    if (key === undefined) return this.#createOnce(content, caller)
    const { documentId } = key
    if (await this.#isMade(key)) return { documentId, made: false }
    try {
      return await this.#createOnce(content, caller, key)
    } catch (error) {
      // Another process has answered the same request since the look above.
      if (await this.#isMade(key)) return { documentId, made: false }
      throw error
    }
  }

  async #isMade({ documentId, commandId }: CreationKey): Promise<boolean> {
    for await (const [first] of this.#ports.log.read(documentStream(documentId), { limit: 1, bodies: false }))
      if (first !== undefined) return isRepeated(document, first.header.commandId, commandId)
    return false
  }

  async #createOnce({ title, source, blocks }: NewDocument, caller: DocumentCaller, key?: CreationKey) {
    const { random, clock, documents } = this.#ports
    const yieldToEventLoop = yielder(clock)
    if (await holdsSecret(this.#ports, caller, [title, ...searchedTexts(blocks)]))
      throw new DocumentError('CONTENT_REFUSED', 'the title or content holds a secret value; send it without')
    const documentId = key?.documentId ?? runIdOf(clock.now(), random.bytes(8))
    const gatewayPeer = peerOf(random.bytes(8))
    const content = blocks.map((block, n) => ({ ...block, id: blockId(documentId, n) }))
    const inserted = [{ kind: 'insert', after: null, blocks: content }] as const
    const replica = await documents.open({ gatewayPeer, updates: [] })
    try {
      await yieldToEventLoop()
      const change = content.length === 0 ? null : await inSteps(replica.editing(inserted), yieldToEventLoop)
      await yieldToEventLoop()
      const command = { kind: 'create', title, gatewayPeer, source, content: change } as const
      const commandId = key?.commandId ?? `request:${hex(random.bytes(16))}`
      await this.#desk(documentId).create(command, commandId, caller)
      return { documentId, made: true }
    } finally {
      replica.close()
    }
  }

  async exists(documentId: string): Promise<boolean> {
    return (await this.#ports.log.head(documentStream(documentId))) !== null
  }

  /** Answers an AI envelope. `body`: the parsed JSON, or a `RawBody` if it could not be parsed. */
  async envelope(documentId: string, body: unknown, caller: DocumentCaller): Promise<EnvelopeAnswer> {
    const desk = (await this.exists(documentId)) ? this.#desk(documentId) : this.#refused
    return desk.envelope(documentId, body, caller)
  }

  /** The earlier answer to a caller's request id for a document, or null. */
  async answered(documentId: string, clientRequestId: string, caller: DocumentCaller): Promise<GivenAnswer | null> {
    const desk = (await this.exists(documentId)) ? this.#desk(documentId) : this.#refused
    return desk.answered(documentId, clientRequestId, caller)
  }

  /** The current effect of a request; see {@link EnvelopePreview}. */
  preview(documentId: string, body: unknown): Promise<EnvelopePreview> {
    return previewEnvelope(this.#ports, this.#cache, documentId, body)
  }

  /** The next step after a conflict, based on the current document. */
  async rebase(documentId: string, request: AiEnvelopeRequest): Promise<Rebase> {
    await this.#mustExist(documentId)
    return this.#desk(documentId).look((replica) => rebase(request, replica))
  }

  /** Erases a request or a text of a discussion permanently; see {@link eraseEnvelopeBody}. */
  async erase(documentId: string, what: EnvelopeErasure, caller: DocumentCaller) {
    await this.#mustExist(documentId)
    return eraseEnvelopeBody(this.#ports, documentId, what, caller, () => this.discussions.forget(documentId))
  }

  /**
   * Imports an update of a person's replica. Rejects with `UPDATE_TOO_LARGE` over {@link MAX_UPDATE} bytes, and with
   * other `DocumentError`s if the update is refused.
   */
  async import(documentId: string, update: Uint8Array, caller: DocumentCaller): Promise<Imported> {
    if (update.length > MAX_UPDATE) {
      const what = `the update has ${update.length} bytes; send at most ${MAX_UPDATE}`
      throw new DocumentError('UPDATE_TOO_LARGE', what)
    }
    await this.#mustExist(documentId)
    return this.#desk(documentId).import(update, caller)
  }

  /** The current document. */
  async read(documentId: string): Promise<DocumentAt> {
    await this.#mustExist(documentId)
    return this.#desk(documentId).look((replica, at) => ({ documentId, ...at, blocks: replica.blocks() }))
  }

  /** The current document as a Loro snapshot with its history, and its revision. */
  async snapshot(documentId: string): Promise<{ readonly revision: number; readonly bytes: Uint8Array }> {
    await this.#mustExist(documentId)
    return this.#desk(documentId).look((replica, { revision }) => ({ revision, bytes: replica.snapshot() }))
  }

  async close(): Promise<void> {
    const desks = [...this.#desks.values(), this.#refused]
    this.#desks.clear()
    await Promise.all(desks.map((desk) => desk.close()))
  }

  async #mustExist(documentId: string): Promise<void> {
    if (!(await this.exists(documentId))) throw unknown(documentId)
  }

  #desk(documentId: string): Desk {
    const desk = this.#desks.get(documentId) ?? new Desk(this.#ports, document, documentStream(documentId), this.#cache)
    // Move the desk to the end: the map is ordered from least to most recently used.
    this.#desks.delete(documentId)
    this.#desks.set(documentId, desk)
    const [oldest] = this.#desks.keys()
    if (this.#desks.size > MAX_OPEN) {
      const left = this.#desks.get(oldest!)!
      this.#desks.delete(oldest!)
      void left.close()
    }
    return desk
  }
}

const unknown = (documentId: string) => new DocumentError('DOCUMENT_UNKNOWN', `there is no document "${documentId}"`)

/** 63 random bits, never 0. Loro reserves the greatest peer. */
function peerOf(bytes: Uint8Array): string {
  const peer = BigInt(`0x${hex(bytes)}`) >> 1n
  return String(peer === 0n ? 1n : peer)
}

const blockId = (documentId: string, n: number): string => `b${sha256(`${documentId}\n${n}`).slice(0, 24)}`
