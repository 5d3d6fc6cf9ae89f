import { messageId } from '../../../domain/log/ids.ts'
import type { JsonObject } from '../../../domain/log/json.ts'
import type { EventView } from '../events/schemas.ts'
import type { Envelope } from './schemas.ts'

/** The types of events that first record a message. */
export const MESSAGE_EVENTS: ReadonlySet<string> = new Set([
  ...(['message_sent', 'message_published', 'message_distributed', 'message_received'] as const),
])

/**
 * The envelope of the message that an event first records. Null: the event does not first record one, or its body was
 * erased.
 */
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
      // A person's message. An agent's message is recorded in the agent's stream.
      if (body.origin !== undefined || body.payload === undefined) return null
      return { ...said(body), id: String(body.id), from: String(body.from), to: agentId, timestamp }
  }
}

/** Why a request will not be answered, from its response. Null: the response is an answer. */
export const responseRefusal = ({ type, payload }: EventView): string | null =>
  type === 'message_sent' ? (payload?.refused ?? null) : null

function said({ type, topic, payload, correlationId }: JsonObject): Pick<Envelope, 'type' | 'payload'> {
  return {
    type: type as Envelope['type'],
    ...(topic === undefined ? {} : { topic }),
    payload,
    ...(correlationId === undefined ? {} : { correlationId }),
  } as Pick<Envelope, 'type' | 'payload'>
}
