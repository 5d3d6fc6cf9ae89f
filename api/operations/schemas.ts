import { isAbsolute } from 'node:path'
import { z } from 'zod'
import { eventTypes } from './events/filter.ts'
import { isPlain, PLAIN } from './text/plain-text.ts'

/** Any JSON value in a response. */
export const AnyJson = z.unknown().meta({ description: 'Any JSON value' })

/**
 * A JSON value in a request. The JSON parser has already validated it. `z.json()` cannot be represented in an OpenAPI
 * document.
 */
export const JsonValue = AnyJson as z.ZodType<z.core.util.JSONType, z.core.util.JSONType>

export const By = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .refine(isPlain, PLAIN)
  .meta({ description: 'Who asks. Recorded as said, marked as claimed.' })

/** The id of a run, an agent, a call or a stream, or a prefix of one. */
export const Id = z.string().min(1).max(300).refine(isPlain, PLAIN)

/** RFC 9457. `code` is stable. `errors` name the faulty members of the request. */
export const ProblemBody = z
  .strictObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    code: z.string(),
    detail: z.string(),
    errors: z
      .array(
        z.strictObject({
          in: z.enum(['body', 'query', 'path', 'header']).optional(),
          path: z.string().meta({ description: 'Such as limits.maxTurns' }),
          message: z.string(),
        }),
      )
      .optional(),
  })
  .meta({ id: 'Problem' })
export type ProblemBody = z.infer<typeof ProblemBody>

/** The cursor of the log position of an answer. Null before the first event. */
export const Position = z.string().nullable().meta({ description: 'Cursor of the log position that this shows' })

/** A whole number in a query or a path, in digits only. An empty text is not 0. */
export const Digits = z
  .string()
  .regex(/^\d{1,15}$/, { error: 'expected a whole number' })
  .transform(Number)

/** A folder of the server's host. */
export const Folder = z
  .string()
  .min(1)
  .refine((path) => !path.includes('\0'), { error: 'expected a path; no path holds a NUL character' })
  .refine(isAbsolute, {
    error: 'expected an absolute path: a relative one would start at whatever folder the server runs in',
  })

/** The text of a cursor: a `next`, `position` or event's `cursor` from an answer. */
export const CursorText = z
  .string()
  .min(1)
  .max(300)
  .refine(isPlain, PLAIN)
  .meta({ description: 'A cursor that an answer gave (`next`, `position`, `cursor`): what comes is after it' })

/** The query of every paged list. */
export const PageQuery = z.strictObject({
  limit: Digits.pipe(z.int().min(1).max(500)).prefault('50').meta({ type: 'integer' }),
  after: CursorText.optional(),
})

export const Next = z.string().nullable().meta({ description: '`after` of the next page; null: this is the last' })

/** Event types, separated by commas. */
export const EventTypes = z
  .string()
  .transform((text) => text.split(',').map((name) => name.trim()))
  .pipe(z.lazy(() => z.array(z.enum(eventTypes()))))
  .meta({ type: 'string', description: 'Types, separated by commas' })

/** Money: whole nano-dollars, and dollars for people. Null: the price is unknown. */
export const Money = {
  nanoDollars: z.int().nonnegative().nullable(),
  usd: z.number().nonnegative().nullable().meta({ description: 'The same in dollars, to be read; add nano-dollars' }),
}

/** The answer to a command: the agent's revision after it. */
export const Recorded = z
  .strictObject({
    ...{ runId: z.string(), agentId: z.string(), revision: z.int(), driving: z.boolean() },
    missing: z.int().positive().optional().meta({ description: 'How many more people must approve the call' }),
    note: z.string().optional().meta({ description: 'What else a person should know, such as approvals that lapsed' }),
  })
  .meta({ id: 'Recorded' })
export type Recorded = z.infer<typeof Recorded>

const point = {
  step: Digits.optional().meta({ type: 'integer' }),
  turn: Digits.optional().meta({ type: 'integer' }),
  event: Digits.optional().meta({ type: 'integer' }),
}
const oneOf = [
  (q: { step?: unknown; turn?: unknown; event?: unknown }) =>
    [q.step, q.turn, q.event].filter((v) => v !== undefined).length <= 1,
  { error: 'give only one of step, turn and event' },
] as const

/** A step, turn or event (revision) of an agent's history, at most one. Default: the head. */
export const PointQuery = z.strictObject(point).refine(...oneOf)

/** {@link PointQuery}, of the root agent of a run or of another one. */
export const AtQuery = z.strictObject({ ...point, agent: Id.optional() }).refine(...oneOf)

/** The change of a file from one version of a workspace to another. */
export const FileChanged = z
  .strictObject({ path: z.string(), change: z.enum(['added', 'modified', 'deleted']) })
  .meta({ id: 'FileChange', description: 'How a file differs between two versions of a folder' })

const Part = z.strictObject({
  events: z.int(),
  upTo: z.int().nullable().meta({ description: 'The revision of the last one; null: there is none' }),
})

/** How far the signed heads of the log cover a stream. */
export const Coverage = z
  .strictObject({
    anchored: Part.meta({ description: 'The first events; evidence from outside the log covers them' }),
    recorded: Part.meta({
      description: 'The next events; an anchor keeps a head of them according to the log, and was not asked',
    }),
    signed: Part.meta({ description: 'The next events; only a signed head covers them' }),
    chained: Part.meta({ description: 'The rest; only the hash chain of the stream covers them' }),
  })
  .meta({ id: 'Coverage', description: 'What protects the events of a stream, from the first to the last' })
export type Coverage = z.infer<typeof Coverage>

export const StreamHeads = Coverage.extend({
  fault: z
    .string()
    .nullable()
    .meta({ description: 'Why a signed or anchored head contradicts the events; null: each proves what it covers' }),
  elsewhere: z.boolean().meta({
    description: 'true: the fault concerns other events, because an earlier signed head proves all of this stream',
  }),
})
  .nullable()
  .meta({ description: 'How far the heads of the log cover the stream; null: this log has no signed heads here' })
export type StreamHeads = z.infer<typeof StreamHeads>

/** An erasure of a body: the revision of the body, and the code and reason of the fact. */
export const ErasedBody = z.strictObject({ revision: z.int(), code: z.string(), reason: z.string() })

/** The members of every proof of a stream. */
export const PROOF = {
  ok: z.boolean(),
  events: z.int(),
  proof: StreamHeads,
  head: z.string(),
  digests: z.int(),
  unchecked: z.int(),
  erased: z.array(ErasedBody).readonly(),
  problems: z.array(z.strictObject({ revision: z.int(), code: z.string(), message: z.string() })).readonly(),
}
