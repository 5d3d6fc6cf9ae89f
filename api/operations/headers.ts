import { z } from 'zod'
import { omitUndefined } from './omit-undefined.ts'
import type { RequestOptions } from './runs/request-options.ts'

/** Headers of requests that create something. */
export const StartHeaders = z.object({
  'idempotency-key': z
    .string()
    .min(1)
    .max(200)
    .optional()
    .meta({ description: 'The same key and body again: the same answer, recorded once.' }),
  traceparent: z.string().max(200).optional().meta({ description: 'W3C trace context, recorded with the events.' }),
  'x-correlation-id': z
    .string()
    .regex(/^[\x21-\x7e]{1,128}$/, { error: 'expected 1 to 128 printable characters without spaces' })
    .optional()
    .meta({
      description:
        "The caller's own name for what it sets going; recorded with every event that follows, and never erased.",
    }),
})
export type StartHeaders = z.infer<typeof StartHeaders>

/** Headers of idempotent commands, which need no key. */
export const TraceHeaders = StartHeaders.omit({ 'idempotency-key': true })

/** Headers of every command to an agent. */
export const CommandHeaders = StartHeaders.extend({
  'if-match': z
    .string()
    .regex(/^"\d+"$/, { error: 'expected a revision in quotes, as an ETag gave it' })
    .optional()
    .meta({ description: 'Only if the agent is still at this revision.' }),
})
export type CommandHeaders = z.infer<typeof CommandHeaders>

/** The request options in the headers. */
export function optionsOf(headers: StartHeaders & Partial<CommandHeaders>): RequestOptions {
  const {
    'idempotency-key': key,
    traceparent: trace,
    'x-correlation-id': correlationId,
    'if-match': revision,
  } = headers
  const expectedRevision = revision === undefined ? undefined : Number(revision.slice(1, -1))
  return omitUndefined({ key, trace, correlationId, expectedRevision })
}
