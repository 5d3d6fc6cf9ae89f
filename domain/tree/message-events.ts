import { z } from 'zod'
import { Origin } from '../courier/events.ts'
import { AnyJsonValue, Instant, text } from '../log/body-parts.ts'

// Events of messages between the agents of a run. Each is an obligation, which the courier delivers to the other
// stream, or the copy in that stream. These names and shapes are the storage format.

const name = z.string().min(1)
const brought = { origin: Origin.optional() }
/** The number of accepted losses of the stream's end before this event; absent: none. */
const ranked = { losses: z.int().positive().optional() }

export const MESSAGE_TYPES = ['request', 'response', 'event'] as const
export const MessageType = z.enum(MESSAGE_TYPES)
export type MessageType = z.infer<typeof MessageType>

/** Messages to people are not delivered, because people read the log. */
export const isPerson = (participant: string): boolean => participant.startsWith('user:')

export const messageEvents = {
  /**
   * Obligation to the agent `to`; a message to a person (`user:<id>`) creates none. The message id is derived from
   * stream and revision (`messageId`). `correlationId`: the id of the request that a response answers. `refused`: why
   * the request will never be answered. With an origin, the event refuses a delivered request that the agent does not
   * read.
   */
  message_sent: z.strictObject({
    ...brought,
    ...ranked,
    to: name,
    type: MessageType,
    topic: name.optional(),
    payload: AnyJsonValue,
    correlationId: name.optional(),
    refused: text.optional(),
  }),
  /**
   * The recipient's copy. `text`: the text that the recipient's model reads at the next turn start. If the header names
   * a call, the message answers that call's request, and the model reads it as the result of the call. `payload` is
   * present only for a message from a person; otherwise it is in the sender's stream.
   */
  message_received: z.strictObject({
    ...brought,
    id: name,
    from: name,
    type: MessageType,
    topic: name.optional(),
    correlationId: name.optional(),
    sentAt: Instant,
    text: name,
    payload: AnyJsonValue.optional(),
  }),
  /** The agent's message with this id was refused for good. `text`: the note to its model. */
  message_bounced: z.strictObject({ id: name, to: name, reason: text, text: name }),
  /** Obligation to the root, which keeps the subscriptions of the run. */
  topic_subscribed: z.strictObject({ topic: name }),
  subscription_added: z.strictObject({ ...brought, agentId: name, topic: name }),
  message_published: z.strictObject({ ...ranked, topic: name, payload: AnyJsonValue }),
  /** Obligation of the root to each agent in `to`. `id`, `from` and `sentAt` are those of the publication. */
  message_distributed: z.strictObject({
    ...brought,
    id: name,
    from: name,
    topic: name,
    payload: AnyJsonValue,
    sentAt: Instant,
    to: z.array(name),
  }),
} as const
