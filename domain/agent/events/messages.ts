import { z } from 'zod'
import { Instant, Json, text } from './event-parts.ts'
import { Origin } from './tree.ts'

// Events of messages between the agents of a run. Each is an obligation, which a courier brings to the other
// stream, or the copy there. These names and shapes are the storage format.

const name = z.string().min(1)
const brought = { origin: Origin.optional() }
/** How often the stream had lost its end before, by losses that were accepted; absent: never. */
const ranked = { losses: z.int().positive().optional() }

export const MESSAGE_TYPES = ['request', 'response', 'event'] as const
export const MessageType = z.enum(MESSAGE_TYPES)
export type MessageType = z.infer<typeof MessageType>

/** People are no agents: they read the log. */
export const isPerson = (participant: string): boolean => participant.startsWith('user:')

export const messageEvents = {
  /**
   * Obligation to the agent `to`; to a person, `user:<id>`, there is none. The message's id follows from stream and revision
   * (`messageId`). `correlationId`: the id of the request that a response answers; `refused`: why it never will be. With an
   * origin it refuses the request that was brought from there, which the agent does not read.
   */
  message_sent: z.strictObject({
    ...brought,
    ...ranked,
    to: name,
    type: MessageType,
    topic: name.optional(),
    payload: Json,
    correlationId: name.optional(),
    refused: text.optional(),
  }),
  /**
   * The recipient's copy. `text`: what its model reads at the next turn start; an answer to a call that waits for it is read
   * as the result of that call, which the header names. The payload is in the sender's stream; `payload`: of a person's.
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
    payload: Json.optional(),
  }),
  /** The agent's message of this id was not delivered, and never will be. `text`: what its model reads. */
  message_bounced: z.strictObject({ id: name, to: name, reason: text, text: name }),
  /** Obligation to the root, which keeps the subscriptions of the run. */
  topic_subscribed: z.strictObject({ topic: name }),
  subscription_added: z.strictObject({ ...brought, agentId: name, topic: name }),
  /** Obligation to the root. */
  message_published: z.strictObject({ ...ranked, topic: name, payload: Json }),
  /** Obligation of the root to each of `to`. `id`, `from` and `sentAt` are those of the publication. */
  message_distributed: z.strictObject({
    ...brought,
    id: name,
    from: name,
    topic: name,
    payload: Json,
    sentAt: Instant,
    to: z.array(name),
  }),
} as const
