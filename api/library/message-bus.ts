import type { z } from 'zod'
import { REQUEST_MS } from '../../domain/agent/state/bus.ts'
import { formatCursor } from '../../domain/log/cursor.ts'
import { messageId } from '../../domain/log/ids.ts'
import type { Json } from '../../domain/log/json.ts'
import { Problem } from '../app/problem.ts'
import { sendMessage } from '../app/runs/send-message.ts'
import type { EventView } from '../app/schemas/events.ts'
import { MessageBody } from '../app/schemas/messages.ts'
import type { Services } from '../app/services.ts'
import { followRun } from './follow-run.ts'

/** A message of a run (CONTRACTS 4). `to` null: it was published to `topic`. */
export interface MessageEnvelope {
  readonly id: string
  readonly from: string
  readonly to: string | null
  readonly type: 'request' | 'response' | 'event'
  readonly topic?: string
  readonly payload: Json
  /** Of a response: the request that it answers. */
  readonly correlationId?: string
  /** ISO 8601. */
  readonly timestamp: string
}

interface Given {
  /** Checks what a caller gave; rejects with INVALID_REQUEST. */
  readonly parsed: <T extends z.ZodType>(schema: T, value: unknown) => z.output<T>
  /** Aborts when the log is closed. */
  readonly ending: AbortSignal
}

/**
 * Messages within one run (seed 000, 4.2; CONTRACTS 4). The program takes part as the person `user:<by>`: agents read what it
 * sends at their next turn start, and write to it under that name. Everything is in the log, so that nothing is lost with it.
 */
export class RuntimeMessageBus {
  /** The name under which agents answer. */
  readonly participant: string
  private readonly services: Services
  private readonly runId: string
  private readonly by: string
  private readonly given: Given

  constructor(services: Services, runId: string, by: string, given: Given) {
    this.services = services
    this.runId = runId
    this.by = by
    this.given = given
    this.participant = `user:${by}`
  }

  /** Sends a message to an agent of the run; gives its id. Rejects where the agent is unknown or has finished. */
  send(to: string, payload: Json, { topic }: { readonly topic?: string } = {}): Promise<string> {
    return this.post({ to, payload, ...(topic === undefined ? {} : { topic }) })
  }

  /** Sends a message to every agent that has subscribed to the topic; gives its id. */
  publish(topic: string, payload: Json): Promise<string> {
    return this.post({ topic, payload })
  }

  /**
   * Sends a request and gives the payload of the answer. Rejects with TIMEOUT where none comes in `timeoutMs` (30,000 at
   * most), and with EXECUTION_FAILED where the agent has ended without one.
   */
  async request(
    to: string,
    payload: Json,
    { topic, timeoutMs = REQUEST_MS }: { readonly topic?: string; readonly timeoutMs?: number } = {},
  ): Promise<Json> {
    const over = new AbortController()
    const after = await this.now()
    const id = await this.post({ to, payload, expectReply: true, ...(topic === undefined ? {} : { topic }) })
    const limit = setTimeout(() => over.abort(), Math.min(timeoutMs, REQUEST_MS))
    try {
      for await (const event of this.events(over.signal, after)) {
        if (event.type !== 'message_sent' || event.payload?.correlationId !== id) continue
        const { refused, payload: answer } = event.payload
        if (refused !== undefined) throw new Problem('EXECUTION_FAILED', `no answer comes: ${refused}`)
        return answer as Json
      }
    } finally {
      clearTimeout(limit)
      over.abort()
    }
    throw new Problem('TIMEOUT', `${to} has not answered ${id} in time; a later answer is in the log`)
  }

  /** Answers a request that an agent has sent to {@link participant} and still waits for. */
  respond(request: string, payload: Json): Promise<string> {
    const to = request.slice(0, request.lastIndexOf('.m'))
    return this.post({ to, payload, correlationId: request })
  }

  /**
   * Messages to {@link participant}, and those published to `topic`, from now on, until the run ends or the signal aborts.
   * They come once the first is asked for.
   */
  async *subscribe({
    topic,
    signal,
  }: {
    readonly topic?: string
    readonly signal?: AbortSignal
  } = {}): AsyncGenerator<MessageEnvelope, void, undefined> {
    const after = await this.now()
    for await (const event of this.events(signal, after)) {
      const envelope = envelopeOf(event)
      if (envelope === null) continue
      if (envelope.to === this.participant || (envelope.to === null && envelope.topic === topic)) yield envelope
    }
  }

  private async post(body: z.input<typeof MessageBody>): Promise<string> {
    const said = this.given.parsed(MessageBody, { ...body, by: this.by })
    const { agentId, revision } = await sendMessage(this.services, this.runId, said, {})
    return messageId(agentId, revision)
  }

  private async now(): Promise<string | undefined> {
    const cursor = await this.services.log.headCursor()
    return cursor === null ? undefined : formatCursor(cursor)
  }

  private events(signal: AbortSignal | undefined, after: string | undefined): AsyncIterable<EventView> {
    const over = signal === undefined ? this.given.ending : AbortSignal.any([signal, this.given.ending])
    return followRun(this.services, this.runId, after, over)
  }
}

/** The message that an event first records for people, or null. */
function envelopeOf({ type, payload, agentId, revision, timestamp }: EventView): MessageEnvelope | null {
  if (payload === null || payload === undefined) return null
  const { to, from, topic, correlationId, sentAt } = payload as Record<string, string | undefined>
  const about = { ...(topic === undefined ? {} : { topic }), ...(correlationId === undefined ? {} : { correlationId }) }
  const said = { ...about, payload: payload.payload as Json }
  if (type === 'message_sent')
    return {
      id: messageId(agentId, revision),
      from: agentId,
      to: to!,
      type: payload.type as 'event',
      ...said,
      timestamp,
    }
  if (type === 'message_distributed')
    return { id: String(payload.id), from: from!, to: null, type: 'event', ...said, timestamp: sentAt! }
  return null
}
