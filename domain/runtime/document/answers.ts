import { type Answer, applied } from '../../document/envelope/answers.ts'
import type { AnsweredRequest } from '../../document/envelope/idempotency.ts'
import { decode } from '../../document/stream/codec.ts'
import type { DocumentEvent } from '../../document/stream/events.ts'
import { keyedCommand, keyOf } from '../../log/ids.ts'
import { bodyOf } from '../stream/bodies.ts'
import type { Stores } from '../stream/ports.ts'

/** The request as a command: the key tells document, caller and id, the rest tells the payload. */
export const commandOf = (
  logId: string,
  documentId: string,
  caller: string,
  clientRequestId: string,
  payload: unknown,
): string => keyedCommand(logId, JSON.stringify(['envelope', documentId, caller, clientRequestId]), payload)

/** The hash of an erased request: that of no payload, so that its id is never used again. */
const ERASED = ''

/** An answer that was given, and the agent's call that got it. */
export interface GivenAnswer extends AnsweredRequest {
  readonly toolCallId: string | null
}

/** Answers of one stream, found by the command ids in its headers, which are read once. */
export class Answers {
  readonly #stores: Stores
  readonly #stream: string
  /** Revisions of answers, by what tells the key of their request; null before they were needed. */
  #found: Map<string, number> | null = null

  constructor(stores: Stores, stream: string) {
    this.#stores = stores
    this.#stream = stream
  }

  note({ type, commandId, revision }: Pick<DocumentEvent, 'type' | 'commandId' | 'revision'>): void {
    if (this.#found !== null) noteIn(this.#found, type, commandId, revision)
  }

  /** The answer that was given to a caller's request id; null: none was. `last`: the stream's last revision. */
  async of(commandId: string, clientRequestId: string, last: number): Promise<GivenAnswer | null> {
    this.#found ??= await this.#read(last)
    const revision = this.#found.get(keyOf(commandId)!)
    if (revision === undefined) return null
    // The request stands right before its answer, in the same append.
    let payloadHash = ERASED
    let given: Answer | null = null
    let toolCallId: string | null = null
    for await (const page of this.#stores.log.read(this.#stream, { from: revision - 1, limit: 2 }))
      for (const recorded of page) {
        toolCallId = recorded.header.toolCallId ?? null
        if (recorded.erased) continue
        const event = decode(recorded.header, await bodyOf(this.#stores, recorded))
        if (event.type === 'envelope_received') payloadHash = event.body.hash
        else given = answerOf(event, clientRequestId)
      }
    return given === null ? null : { payloadHash, answer: given, toolCallId }
  }

  async #read(last: number): Promise<Map<string, number>> {
    const found = new Map<string, number>()
    if (last < 0) return found
    for await (const page of this.#stores.log.read(this.#stream, { limit: last + 1, bodies: false }))
      for (const { header } of page) noteIn(found, header.type, header.commandId, header.revision)
    return found
  }
}

function noteIn(found: Map<string, number>, type: string, commandId: string, revision: number): void {
  const key = type === 'envelope_refused' || type === 'document_updated' ? keyOf(commandId) : null
  if (key !== null) found.set(key, revision)
}

function answerOf(event: DocumentEvent, clientRequestId: string): Answer | null {
  if (event.type === 'envelope_refused') return event.body.answer as unknown as Answer
  if (event.type !== 'document_updated' || event.body.envelope === null) return null
  return applied(clientRequestId, event.body.frontier, event.body.envelope.diagnostics as never)
}
