import { OpenAPIHono, z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { issuesOf, issuesText } from '../../domain/agent/issues.ts'
import type { Request } from '../../domain/runtime/types.ts'
import { Problem, problemResponse } from './problem.ts'
import { ProblemBody } from './schemas/common.ts'

/** An app whose refused requests become problems. Every group of routes is one. */
export function newApp() {
  return new OpenAPIHono({
    defaultHook: (result, _c: Context) => {
      if (result.success) return
      const errors = issuesOf(result.error, [result.target])
      return problemResponse(new Problem(400, 'INVALID_REQUEST', issuesText(errors), errors))
    },
  })
}

/** A JSON answer of a route's description. */
export function json<T extends z.ZodType>(schema: T, description: string) {
  return { description, content: { 'application/json': { schema } } }
}

/** A JSON body of a route's description. */
export function body<T extends z.ZodType>(schema: T) {
  return { required: true, content: { 'application/json': { schema } } }
}

/** Every route may answer with a problem. */
export const refusals = {
  default: { description: 'Refused', content: { 'application/problem+json': { schema: ProblemBody } } },
}

export const RunId = z.object({ id: z.string().min(1).max(200) })

/** Headers of what makes something new. */
export const StartHeaders = z.object({
  'idempotency-key': z
    .string()
    .min(1)
    .max(200)
    .optional()
    .openapi({ description: 'The same key and body again: the same answer, recorded once.' }),
  traceparent: z.string().max(200).optional().openapi({ description: 'W3C trace context, recorded with the events.' }),
  'x-correlation-id': z
    .string()
    .regex(/^[\x21-\x7e]{1,128}$/, { error: 'expected 1 to 128 printable characters without spaces' })
    .optional()
    .openapi({
      description:
        "The caller's own name for what it sets going; recorded with every event that follows, and never erased.",
    }),
})
export type StartHeaders = z.infer<typeof StartHeaders>

/** What a request says of the larger work that it belongs to. */
export const tracing = (headers: StartHeaders): Pick<Request, 'trace' | 'correlationId'> => ({
  ...(headers.traceparent === undefined ? {} : { trace: headers.traceparent }),
  ...(headers['x-correlation-id'] === undefined ? {} : { correlationId: headers['x-correlation-id'] }),
})

/** Headers that every command to an agent takes. */
export const CommandHeaders = StartHeaders.extend({
  'if-match': z
    .string()
    .regex(/^"\d+"$/, { error: 'expected a revision in quotes, as an ETag gave it' })
    .optional()
    .openapi({ description: 'Only if the agent is still at this revision.' }),
})
export type CommandHeaders = z.infer<typeof CommandHeaders>
