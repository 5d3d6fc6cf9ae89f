import { z } from 'zod'
import { NAME_LENGTH } from '../../../domain/agent/state/message-limits.ts'
import { MESSAGE_TYPES } from '../../../domain/tree/message-events.ts'
import { AnyJson, By, Id, JsonValue, Next, Position, Recorded } from '../schemas.ts'
import { isPlain, PLAIN } from '../text/plain-text.ts'

const MessageType = z.enum(MESSAGE_TYPES)

/** The envelope of a message (CONTRACTS 4), as the bus returns it. */
export const Envelope = z
  .strictObject({
    id: z.string(),
    from: z.string().meta({ description: 'An agent, or a person as user:<id>' }),
    to: z.string().nullable().meta({ description: 'An agent, or a person as user:<id>; null: published to its topic' }),
    type: MessageType,
    topic: z.string().optional(),
    payload: AnyJson,
    correlationId: z.string().optional().meta({ description: 'Of a response: the request' }),
    timestamp: z.string(),
  })
  .meta({ id: 'RuntimeMessage' })
export type Envelope = z.infer<typeof Envelope>

export const MessageView = Envelope.omit({ payload: true })
  .extend({
    preview: z
      .string()
      .nullable()
      .meta({ description: 'The first 500 characters of the payload as JSON; null: erased' }),
    status: z.enum(['sent', 'received', 'bounced', 'refused']).meta({
      description:
        'refused: its recipient has not taken it, or will not answer it. What people are sent they read here',
    }),
    reason: z.string().nullable().meta({ description: 'Why it bounced or was refused' }),
    receivedBy: z.array(z.string()).meta({ description: 'Agents that have taken it' }),
    stream: z.string().meta({ description: 'Where it stands in full, with its revision' }),
    revision: z.int(),
  })
  .meta({ id: 'Message', description: 'A message of an agent or a person, and what became of it' })
/** A message between agents of a run or people, without its payload. */
export type MessageView = z.infer<typeof MessageView>

export const MessageList = z
  .strictObject({ position: Position, messages: z.array(MessageView), next: Next })
  .meta({ id: 'MessageList' })
export type MessageList = z.infer<typeof MessageList>

const Topic = z.string().trim().min(1).max(NAME_LENGTH).refine(isPlain, PLAIN)

export const SendMessageBody = z
  .strictObject({
    to: Id.optional().meta({ description: 'An agent of the run; default: the root agent' }),
    payload: JsonValue,
    topic: Topic.optional(),
    expectReply: z
      .boolean()
      .default(false)
      .meta({ description: 'A request: the list shows its answer, or its refusal' }),
    by: By.optional(),
  })
  .meta({ id: 'SendMessage' })
export type SendMessageBody = z.output<typeof SendMessageBody>

export const PublishBody = z
  .strictObject({ topic: Topic, payload: JsonValue, by: By.optional() })
  .meta({ id: 'Publish' })
export type PublishBody = z.output<typeof PublishBody>

export const RespondBody = z.strictObject({ payload: JsonValue, by: By.optional() }).meta({ id: 'Respond' })
export type RespondBody = z.output<typeof RespondBody>

export const Sent = Recorded.extend({ id: z.string().meta({ description: 'The id of the message' }) }).meta({
  id: 'Sent',
})
/** The record of a message that was sent. */
export type Sent = z.infer<typeof Sent>
