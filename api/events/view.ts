import { type Block, callArguments } from '../../domain/agent/content.ts'
import { formatCursor } from '../../domain/log/cursor.ts'
import type { RecordedEvent } from '../../domain/log/envelope.ts'
import type { Json, JsonObject } from '../../domain/log/json.ts'
import type { BlobStore, EventLog } from '../../domain/ports.ts'
import type { EventView } from '../http/schemas/events.ts'
import { bodyJson } from './body.ts'

const KEPT_ANSWERS = 64
const PAGE_BACK = 64

/** The part of a model's answer that its calls refer to. */
interface Answer {
  readonly turn: number
  readonly content: readonly Block[]
  readonly calls: readonly { readonly block: number }[]
}

/**
 * Turns stored events into what consumers see (CONTRACTS 6): people as `user:<id>` in turn 0, and the arguments of a
 * call, which are stored once, in the model's answer. One instance per reader.
 */
export class EventViews {
  readonly #log: EventLog
  readonly #blobs: BlobStore
  readonly #answers = new Map<string, Answer>()

  constructor(log: EventLog, blobs: BlobStore) {
    this.#log = log
    this.#blobs = blobs
  }

  async view(event: RecordedEvent): Promise<EventView> {
    const h = event.header
    const body = await bodyJson(event, this.#blobs)
    const person = h.actor.kind === 'user' || h.actor.kind === 'approver'
    if (h.type === 'model_call_end' && body) this.#keep(h.stream, answerOf(h.turn, body))
    return {
      id: event.id,
      cursor: formatCursor(this.#log.cursor(event)),
      runId: h.runId,
      agentId: person ? `user:${h.actor.id}` : h.agentId,
      type: h.type,
      version: h.version,
      turn: person ? 0 : h.turn,
      timestamp: h.timestamp,
      ...(h.toolCallId === undefined ? {} : { toolCallId: h.toolCallId }),
      stream: h.stream,
      revision: h.revision,
      actor: h.actor,
      commandId: h.commandId,
      correlationId: h.correlationId ?? h.commandId,
      ...(h.causationId === undefined ? {} : { causationId: h.causationId }),
      ...(h.driver === undefined ? {} : { epoch: h.driver.epoch }),
      hash: event.hash,
      ...(event.erased ? { erased: true as const } : {}),
      payload: body && h.type === 'tool_call_start' ? await this.#withArguments(event, body) : body,
    }
  }

  async #withArguments(event: RecordedEvent, body: JsonObject): Promise<JsonObject> {
    const answer = await this.#answer(event)
    const call = typeof body.index === 'number' ? answer?.calls[body.index] : undefined
    const block = call && answer?.content[call.block]
    return { ...body, arguments: (block ? callArguments(block) : null) as Json }
  }

  /** The answer that a call came from: usually the last one seen, else found by going back through the stream. */
  async #answer(event: RecordedEvent): Promise<Answer | null> {
    const { stream, turn, revision } = event.header
    const kept = this.#answers.get(stream)
    if (kept?.turn === turn) return kept
    for (let end = revision; end > 0; end -= PAGE_BACK) {
      const from = Math.max(0, end - PAGE_BACK)
      let found: RecordedEvent | null = null
      let older = false
      for await (const page of this.#log.read(stream, { from, limit: end - from })) {
        for (const e of page) {
          if (e.header.turn === turn && e.header.type === 'model_call_end') found = e
          if (e.header.turn === turn && e.header.type === 'turn_start') older = true
        }
      }
      if (found) {
        const body = await bodyJson(found, this.#blobs)
        return body && this.#keep(stream, answerOf(turn, body))
      }
      if (older) return null
    }
    return null
  }

  #keep(stream: string, answer: Answer): Answer {
    this.#answers.delete(stream)
    this.#answers.set(stream, answer)
    if (this.#answers.size > KEPT_ANSWERS) this.#answers.delete(this.#answers.keys().next().value!)
    return answer
  }
}

const answerOf = (turn: number, body: JsonObject): Answer => ({
  turn,
  content: (body.content ?? []) as unknown as Answer['content'],
  calls: (body.calls ?? []) as unknown as Answer['calls'],
})
