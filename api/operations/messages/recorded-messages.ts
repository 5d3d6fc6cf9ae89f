import { messageId } from '../../../domain/log/ids.ts'
import type { JsonObject } from '../../../domain/log/json.ts'
import type { EventView } from '../events/schemas.ts'
import type { Envelope } from './schemas.ts'

/** Types of the events in which messages are first recorded. */
export const MESSAGE_EVENTS: ReadonlySet<string> = new Set([
  ...(['message_sent', 'message_published', 'message_distributed', 'message_received'] as const),
])

/** The envelope of the message that an event was the first to record; null: another event has, or its body was erased. */
export function envelopeOf({ type, stream, revision, timestamp, payload }: EventView): Envelope | null {
  if (!MESSAGE_EVENTS.has(type) || payload === null) return null
  const agentId = stream.slice(stream.indexOf('-') + 1)
  const body = payload as JsonObject
  const id = messageId(agentId, { revision, losses: body.losses as number | undefined })
  switch (type) {
    case 'message_sent':
      return { ...said(body), id, from: agentId, to: String(body.to), timestamp }
    case 'message_published':
      return { ...said({ ...body, type: 'event' }), id, from: agentId, to: null, timestamp }
    case 'message_distributed':
      if (body.origin !== undefined) return null
      return { ...said({ ...body, type: 'event' }), id: String(body.id), from: String(body.from), to: null, timestamp }
    default:
      // A person's; that of an agent stands in the agent's own stream.
      if (body.origin !== undefined || body.payload === undefined) return null
      return { ...said(body), id: String(body.id), from: String(body.from), to: agentId, timestamp }
  }
}

/** Why a request will not be answered, as the response says it; null: it is an answer. */
export const refusedBy = ({ type, payload }: EventView): string | null =>
  type === 'message_sent' && typeof payload?.refused === 'string' ? payload.refused : null

function said({ type, topic, payload, correlationId }: JsonObject): Pick<Envelope, 'type' | 'payload'> {
  return {
    type: type as Envelope['type'],
    ...(topic === undefined ? {} : { topic }),
    payload,
    ...(correlationId === undefined ? {} : { correlationId }),
  } as Pick<Envelope, 'type' | 'payload'>
}
