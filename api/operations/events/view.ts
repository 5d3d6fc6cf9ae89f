import { argumentsRefOf, withArguments } from '../../../domain/agent/events/arguments-ref.ts'
import { formatCursor } from '../../../domain/log/cursor.ts'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import type { JsonObject } from '../../../domain/log/json.ts'
import { runOf } from '../../../domain/log/owner.ts'
import type { BlobStore, EventLog } from '../../../domain/ports/index.ts'
import { wasErasedSince } from '../../../domain/stream/runtime/bodies.ts'
import { type ShownBody, shownBody, soundBytes } from './body.ts'
import { briefOf } from './brief.ts'
import { shownBy } from './filter.ts'
import type { EventView } from './schemas.ts'

/**
 * The cache limit for model answers, whose blocks contain the arguments of calls, in bytes. The last answer is always
 * cached.
 */
const KEPT_BYTES = 8 * 1024 * 1024
/** A larger body is sent as stored, without parsing, in bytes. */
const LARGE_BODY = 256 * 1024
/** The bytes of a large body per piece. */
const PART = 64 * 1024

/** A piece of a view's JSON, which is one line. */
export type JsonPiece = string | Uint8Array

/**
 * Converts stored events to the form for consumers: people as `user:<id>` in turn 0, and the arguments of a call, which
 * are stored only in the model's answer. A tool that does not exist has the name from the model. One instance per
 * reader.
 */
export class EventViews {
  readonly #log: EventLog
  readonly #blobs: BlobStore
  readonly #answers = new Map<string, { readonly answer: JsonObject | null; readonly bytes: number }>()
  #bytes = 0

  constructor(log: EventLog, blobs: BlobStore) {
    this.#log = log
    this.#blobs = blobs
  }

  async view(read: RecordedEvent): Promise<EventView> {
    const { event, altered, json: body } = await this.#shown(read)
    const h = event.header
    if (h.type === 'model_call_end' && body) this.#keep(`${h.stream}@${h.revision}`, body, h.body.size)
    const payload = body && (await this.#withArguments(h, body))
    // Writers seal no body of another shape, and the hash shows an altered one.
    return { ...this.#place(event), ...(altered && { altered }), payload } as EventView
  }

  /**
   * {@link view} as JSON, after the text `before`. A large body is sent as stored. After the first piece nothing is
   * awaited.
   */
  async *json(event: RecordedEvent, before = ''): AsyncGenerator<JsonPiece> {
    const { size, cipher } = event.header.body
    // If this fails, the view fails too, or shows the body as erased.
    const sound = () => soundBytes(event, this.#blobs).catch(() => null)
    const bytes = size > LARGE_BODY && cipher === undefined ? await sound() : null
    if (bytes === null) {
      yield before + JSON.stringify(await this.view(event))
      return
    }
    yield `${before}${JSON.stringify(this.#place(event)).slice(0, -1)},"payload":`
    for (let at = 0; at < bytes.length; at += PART) yield bytes.subarray(at, at + PART)
    yield '}'
  }

  /** {@link view} with truncated texts. */
  async brief(event: RecordedEvent): Promise<EventView> {
    return briefOf(await this.view(event))
  }

  /** An event with its body. If its blob was erased after the event was read, returns the event as erased. */
  async #shown(event: RecordedEvent): Promise<ShownBody & { readonly event: RecordedEvent }> {
    try {
      return { event, ...(await shownBody(event, this.#blobs)) }
    } catch (error) {
      if (!(await wasErasedSince(this.#log, event, error))) throw error
      return { event: { ...event, erased: true }, altered: false, json: null }
    }
  }

  /** All members of a view except the payload. */
  #place(event: RecordedEvent) {
    const h = event.header
    const { agentId, turn } = shownBy(h)
    return {
      id: event.id,
      cursor: formatCursor(this.#log.cursor(event)),
      runId: runOf(h),
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
    }
  }

  /** Adds the content of a model's answer that a body refers to. */
  async #withArguments({ type, stream }: RecordedEvent['header'], body: JsonObject): Promise<JsonObject> {
    const ref = argumentsRefOf(body)
    return withArguments(type, body, ref === undefined ? null : await this.#answer(stream, ref.revision))
  }

  async #answer(stream: string, revision: number): Promise<JsonObject | null> {
    const place = `${stream}@${revision}`
    const kept = this.#answers.get(place)
    if (kept !== undefined) return this.#keep(place, kept.answer, kept.bytes)
    for await (const [found] of this.#log.read(stream, { from: revision, limit: 1 }))
      if (found) return this.#keep(place, (await this.#shown(found)).json, found.header.body.size)
    return null
  }

  #keep(place: string, answer: JsonObject | null, bytes: number): JsonObject | null {
    this.#forget(place)
    this.#answers.set(place, { answer, bytes })
    this.#bytes += bytes
    for (const oldest of this.#answers.keys()) {
      if (this.#bytes <= KEPT_BYTES || this.#answers.size === 1) break
      this.#forget(oldest)
    }
    return answer
  }

  #forget(place: string): void {
    this.#bytes -= this.#answers.get(place)?.bytes ?? 0
    this.#answers.delete(place)
  }
}
