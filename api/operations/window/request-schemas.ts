import { z } from 'zod'
import { AnyJson } from '../schemas.ts'

/**
 * A model request as sent. `body`: JSON in the provider's format, with its headers, according to this process's
 * settings.
 */
export const SentRequest = z
  .strictObject({
    attempt: z.int(),
    revision: z.int().meta({ description: "The event's revision that says that it was sent" }),
    model: z.string(),
    provider: z.string(),
    system: z.string().meta({ description: 'The system prompt, which stands in the body too' }),
    headers: z.record(z.string(), z.string()),
    body: AnyJson,
    checked: z.strictObject({ inputs: z.string() }).meta({
      description: 'The recorded hash of messages, prompt, tools and parameters, from which `body` is made',
    }),
  })
  .meta({ id: 'SentRequest' })

export const SentRequests = z
  .strictObject({ runId: z.string(), agentId: z.string(), turn: z.int(), requests: z.array(SentRequest) })
  .meta({ id: 'SentRequests' })
export type SentRequests = z.infer<typeof SentRequests>
