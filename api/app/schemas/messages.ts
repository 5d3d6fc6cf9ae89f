import { z } from 'zod'
import { MESSAGE_TYPES } from '../../../domain/agent/events/messages.ts'
import { MESSAGE_BYTES, NAME_LENGTH } from '../../../domain/agent/state/bus-rules.ts'
import { By, Id, JsonValue, Position } from './common.ts'

const topic = z.string().trim().min(1).max(NAME_LENGTH)

export const Message = z
  .strictObject({
    id: z.string().meta({ description: 'The agent and the revision at which it was first recorded' }),
    from: z.string().meta({ description: 'An agent, or a person: user:<id>' }),
    to: z.string().nullable().meta({ description: 'Null: published to the topic' }),
    type: z.enum(MESSAGE_TYPES),
    topic: z.string().nullable(),
    correlationId: z.string().nullable().meta({ description: 'Of a response: the request' }),
    preview: z
      .string()
      .nullable()
      .meta({ description: 'The beginning of the payload, as JSON; the event has all of it' }),
    sentAt: z.string(),
    received: z.int().meta({ description: 'How many agents have received it' }),
    bounced: z.string().nullable().meta({ description: 'Why it was not delivered, where the recipient refused it' }),
  })
  .meta({ id: 'Message' })
export type Message = z.infer<typeof Message>

export const MessageList = z
  .strictObject({ position: Position, messages: z.array(Message).readonly(), next: z.string().nullable() })
  .meta({ id: 'MessageList' })

export const MessageBody = z
  .strictObject({
    to: Id.optional().meta({ description: 'An agent of the run; without one the topic is published to' }),
    topic: topic.optional(),
    payload: JsonValue.meta({ description: `Any JSON value of at most ${MESSAGE_BYTES} bytes` }),
    expectReply: z.boolean().optional().meta({ description: 'The agent is told that an answer is waited for' }),
    correlationId: Id.optional().meta({ description: 'It answers this request of an agent' }),
    by: By.optional(),
  })
  .refine(({ to, topic }) => to !== undefined || topic !== undefined, {
    error: 'give the agent that it is to, or the topic to publish to',
    path: ['to'],
  })
  .refine(({ expectReply, correlationId, to }) => to !== undefined || (!expectReply && correlationId === undefined), {
    error: 'a request and an answer are to one agent: give "to"',
    path: ['to'],
  })
  .meta({ id: 'MessageBody' })
