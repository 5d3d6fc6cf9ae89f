import { z } from 'zod'
import { Block } from '../../../domain/calls/content.ts'
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
export type SentRequest = z.infer<typeof SentRequest>

const content = z.string()
const Message = z
  .discriminatedUnion('role', [
    z.strictObject({ role: z.literal('user'), content }),
    z.strictObject({ role: z.literal('system'), content }),
    z.strictObject({ role: z.literal('assistant'), content: z.array(Block).readonly() }),
    z.strictObject({
      role: z.literal('tool'),
      toolCallId: z.string(),
      providerCallId: z.string(),
      toolName: z.string(),
      content,
      isError: z.boolean(),
    }),
  ])
  .meta({ id: 'RequestMessage', description: 'A message of a request to a model' })

const Tool = z.strictObject({ name: z.string(), description: z.string(), parameters: z.record(z.string(), AnyJson) })

export const SentRequests = z
  .strictObject({
    runId: z.string(),
    agentId: z.string(),
    turn: z.int(),
    requests: z
      .array(
        SentRequest.extend({
          messages: z
            .array(Message)
            .readonly()
            .meta({ description: 'The messages in the same form for every provider' }),
          tools: z.array(Tool).readonly(),
        }),
      )
      .readonly(),
  })
  .meta({ id: 'SentRequests' })
export type SentRequests = z.infer<typeof SentRequests>
export type TurnRequest = SentRequests['requests'][number]
