import { z } from 'zod'
import { NOTICE_TYPES } from '../../../domain/stream/notice.ts'
import { Id } from '../schemas.ts'

const Attempted = z.strictObject({ at: z.string(), message: z.string() })

export const WebhookParam = z.object({ name: Id })

export const Webhook = z
  .strictObject({
    name: z.string(),
    target: z.string().meta({ description: 'The origin of its URL' }),
    types: z.array(z.enum(NOTICE_TYPES)).readonly().nullable().meta({ description: 'null: notices of every type' }),
    behind: z.int().nullable().meta({
      description:
        'Events of the log that are not handled yet, counted up to 1,000; null: it has not begun in this log',
    }),
    deliveredAt: z.string().nullable().meta({ description: 'When the last notice was delivered' }),
    failure: Attempted.nullable().meta({ description: 'The last failed delivery since then' }),
    stopped: Attempted.nullable().meta({ description: 'Its receiver answered 410, so nothing is sent any more' }),
  })
  .meta({ id: 'Webhook', description: 'A webhook, and how its deliveries stand' })

export const Webhooks = z.strictObject({ webhooks: z.array(Webhook).readonly() }).meta({ id: 'Webhooks' })

export const WebhookTest = z
  .strictObject({
    status: z.int().nullable().meta({ description: "The HTTP status of the receiver's answer; null: none" }),
    fault: z.string().nullable().meta({ description: 'null: the receiver took the notice' }),
  })
  .meta({ id: 'WebhookTest' })
