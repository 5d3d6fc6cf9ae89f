import { z } from '@hono/zod-openapi'

/** Any JSON value, as a response holds it. */
export const AnyJson = z.unknown().openapi({ description: 'Any JSON value' })

/** A JSON value in a request. Parsing has proved it; `z.json()` itself cannot be drawn in an OpenAPI document. */
export const JsonValue = AnyJson as unknown as z.ZodType<z.core.util.JSONType, z.core.util.JSONType>

export const By = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .openapi({ description: 'Who asks. Recorded as said, marked as claimed.' })

/** RFC 9457. `code` is stable; `errors` say where in the request. */
export const ProblemBody = z
  .strictObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    code: z.string(),
    detail: z.string(),
    errors: z.array(z.strictObject({ path: z.string(), message: z.string() })).optional(),
  })
  .openapi('Problem')
export type ProblemBody = z.infer<typeof ProblemBody>

/** Cursor text of the log position that an answer shows; null before the first event. */
export const Position = z.string().nullable().openapi({ description: 'Cursor of the log position that this shows' })

export const PageQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(500).default(50),
  after: z.string().min(1).optional(),
})

/** The answer to a command: the agent's revision after it. */
export const Recorded = z
  .strictObject({ runId: z.string(), revision: z.int(), driving: z.boolean() })
  .openapi('Recorded')
export type Recorded = z.infer<typeof Recorded>

/** A step, turn or event (revision) of an agent's history; at most one of them, the head where none is given. */
export const AtQuery = z
  .strictObject({
    step: z.coerce.number().int().nonnegative().optional(),
    turn: z.coerce.number().int().nonnegative().optional(),
    event: z.coerce.number().int().nonnegative().optional(),
    agent: z.string().min(1).optional(),
  })
  .refine((q) => [q.step, q.turn, q.event].filter((v) => v !== undefined).length <= 1, {
    error: 'give only one of step, turn and event',
  })

/** What becomes of a file from one version of a workspace to another. */
export const FileChanged = z
  .strictObject({ path: z.string(), change: z.enum(['added', 'modified', 'deleted']) })
  .openapi('FileChange')
