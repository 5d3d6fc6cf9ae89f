import type { Header } from '../../log/envelope.ts'
import { keyFor, keyOf } from '../../log/ids.ts'
import { bodyOf } from '../../stream/runtime/bodies.ts'
import type { Stores, StreamPorts } from '../../stream/runtime/ports.ts'
import { applied, type EnvelopeAnswer } from '../envelope/answers.ts'
import type { AnsweredRequest } from '../envelope/idempotency.ts'
import { decode } from '../stream/codec.ts'
import type { DocumentEvent } from '../stream/events.ts'
import { type AnswerIndex, AnswerPieces } from './answer-pieces.ts'

/** The identity of a request. An id belongs to one caller and one document. */
export interface RequestKey {
  readonly documentId: string
  readonly caller: string
  readonly clientRequestId: string
}

const keyText = ({ documentId, caller, clientRequestId }: RequestKey): string =>
  JSON.stringify(['envelope', documentId, caller, clientRequestId])

/** The command id of a request. It says nothing of the payload, which can be erased. */
export const commandOf = (logId: string, key: RequestKey): string => keyFor(logId, keyText(key))

/** The payload hash of an erased request. No payload has this hash, so the id is never usable again. */
const ERASED = ''

/** An earlier answer, and the agent's call that received it. */
export interface GivenAnswer extends AnsweredRequest {
  readonly toolCallId: string | null
}

/** The number of answers per stored piece of the index. */
export const PIECE = 1000

/** The answers of one stream. Finds them by the command ids in the headers, which are read once. */
export class Answers {
  readonly #stores: Stores
  readonly #stream: string
  readonly #pieces: AnswerPieces
  /** Null: not needed yet. */
  #found: AnswerIndex | null = null
  /** Answers that are in no stored piece, and their revisions. */
  #fresh: [key: string, revision: number][] = []
  #from = 0
  #to = -1

  constructor(ports: Stores & Pick<StreamPorts, 'snapshots' | 'warn'>, stream: string) {
    this.#stores = ports
    this.#stream = stream
    this.#pieces = new AnswerPieces(ports, stream)
  }

  note({ type, commandId, revision }: Pick<Header, 'type' | 'commandId' | 'revision'>): void {
    if (this.#found === null || revision <= this.#to) return
    this.#to = revision
    const key = type === 'envelope_refused' || type === 'document_updated' ? keyOf(commandId) : null
    if (key === null) return
    this.#found.set(key, revision)
    this.#fresh.push([key, revision])
  }

  /**
   * The earlier answer to a caller's request id, or null. `last`: the stream's last revision. All events up to `last`
   * must be noted or in the log. Do not call concurrently.
   */
  async of(key: RequestKey, last: number): Promise<GivenAnswer | null> {
    const revision = (await this.#index(last)).get(keyFor(this.#stores.log.logId, keyText(key)))
    if (revision === undefined) return null
    // The request is directly before its answer, in the same append.
    let payloadHash = ERASED
    let given: EnvelopeAnswer | null = null
    let toolCallId: string | null = null
    for await (const page of this.#stores.log.read(this.#stream, { from: revision - 1, limit: 2 }))
      for (const recorded of page) {
        toolCallId = recorded.header.toolCallId ?? null
        if (recorded.erased) continue
        const event = decode(recorded.header, await bodyOf(this.#stores, recorded))
        if (event.type === 'envelope_received') payloadHash = event.body.hash ?? ERASED
        else given = answerOf(event, key.clientRequestId)
      }
    return given === null ? null : { payloadHash, answer: given, toolCallId }
  }

  async #index(last: number): Promise<AnswerIndex> {
    if (this.#found === null) await this.#read(last)
    if (this.#fresh.length >= PIECE) await this.#keep()
    return this.#found!
  }

  async #read(last: number): Promise<void> {
    const { found, next } = await this.#pieces.read(last)
    this.#found = found
    this.#from = next
    this.#to = next - 1
    if (next > last) return
    try {
      for await (const page of this.#stores.log.read(this.#stream, {
        from: next,
        limit: last + 1 - next,
        bodies: false,
      }))
        for (const { header } of page) this.note(header)
    } catch (error) {
      this.#found = null
      this.#fresh = []
      throw error
    }
  }

  async #keep(): Promise<void> {
    const piece = { from: this.#from, to: this.#to, answers: this.#fresh }
    this.#from = this.#to + 1
    this.#fresh = []
    await this.#pieces.keep(piece)
  }
}

function answerOf(event: DocumentEvent, clientRequestId: string): EnvelopeAnswer | null {
  if (event.type === 'envelope_refused') return event.body.answer as EnvelopeAnswer
  if (event.type !== 'document_updated' || event.body.envelope === null) return null
  return applied(clientRequestId, event.body.frontier, event.body.envelope.diagnostics as never)
}
