import { type Block, callArguments } from '../../domain/agent/events/content.ts'
import { formatCursor } from '../../domain/log/cursor.ts'
import type { RecordedEvent } from '../../domain/log/envelope.ts'
import type { JsonObject } from '../../domain/log/json.ts'
import type { BlobStore, EventLog } from '../../domain/ports.ts'
import type { EventView } from '../http/schemas/events.ts'
import { shownBody } from './body.ts'
import { shownBy } from './stream.ts'

const KEPT_ANSWERS = 64

/**
 * Turns stored events into what consumers see (CONTRACTS 6): people as `user:<id>` in turn 0, and the arguments of a
 * call, which are stored once, in the model's answer. One instance per reader.
 */
export class EventViews {
  readonly #log: EventLog
  readonly #blobs: BlobStore
  readonly #answers = new Map<string, readonly Block[]>()

  constructor(log: EventLog, blobs: BlobStore) {
    this.#log = log
    this.#blobs = blobs
  }

  async view(event: RecordedEvent): Promise<EventView> {
    const h = event.header
    const { altered, json: body } = await shownBody(event, this.#blobs)
    const { agentId, turn } = shownBy(h)
    if (h.type === 'model_call_end' && body) this.#keep(`${h.stream}@${h.revision}`, contentOf(body))
    return {
      id: event.id,
      cursor: formatCursor(this.#log.cursor(event)),
      runId: h.runId,
      agentId,
      type: h.type,
      version: h.version,
      turn,
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
      ...(altered ? { altered: true as const } : {}),
      payload: body && (await this.#withGiven(h, body)),
    }
  }

  /** What a body points to in an answer, beside it. */
  async #withGiven({ type, stream }: RecordedEvent['header'], body: JsonObject): Promise<JsonObject> {
    const given = body.given as { readonly revision: number; readonly block: number } | undefined
    if (given === undefined) return body
    const block = (await this.#answer(stream, given.revision))[given.block]
    const args = block ? callArguments(block) : null
    if (type === 'context_set') return { ...body, value: args?.value ?? null }
    return type === 'tool_call_start' ? { ...body, arguments: args } : body
  }

  async #answer(stream: string, revision: number): Promise<readonly Block[]> {
    const place = `${stream}@${revision}`
    const kept = this.#answers.get(place)
    if (kept !== undefined) return kept
    for await (const [found] of this.#log.read(stream, { from: revision, limit: 1 })) {
      const body = found && (await shownBody(found, this.#blobs)).json
      if (body) return this.#keep(place, contentOf(body))
    }
    return []
  }

  #keep(place: string, content: readonly Block[]): readonly Block[] {
    this.#answers.delete(place)
    this.#answers.set(place, content)
    if (this.#answers.size > KEPT_ANSWERS) this.#answers.delete(this.#answers.keys().next().value!)
    return content
  }
}

const contentOf = (body: JsonObject): readonly Block[] => (body.content ?? []) as unknown as readonly Block[]
