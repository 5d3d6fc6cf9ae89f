import { z } from 'zod'
import { Digits, Id, Position, PROOF } from '../schemas.ts'
import { isPlain, PLAIN } from '../text/plain-text.ts'

/** A stream's name without the namespace. */
const StreamName = z.string().min(1).max(300).refine(isPlain, PLAIN)

export const StreamsQuery = z.strictObject({
  prefix: z
    .string()
    .max(300)
    .refine(isPlain, PLAIN)
    .optional()
    .meta({ description: 'The beginning of the names, such as document-' }),
  after: Id.optional().meta({ description: 'The last stream of the page before' }),
  limit: Digits.pipe(z.int().min(1).max(500)).prefault('100').meta({ type: 'integer' }),
})

export const StreamList = z
  .strictObject({
    position: Position,
    streams: z
      .array(
        z.strictObject({
          stream: z.string(),
          runId: z.string(),
          revision: z.int().meta({ description: 'Of its last event' }),
        }),
      )
      .readonly(),
    next: z.string().nullable().meta({ description: '`after` of the next page; null: this is the last' }),
  })
  .meta({ id: 'StreamList' })
export type StreamList = z.infer<typeof StreamList>

export const StreamParam = z.object({ stream: StreamName })

export const VerifiedStream = z
  .strictObject({
    stream: z.string(),
    ...PROOF,
  })
  .meta({ id: 'VerifiedStream' })

export const VerifiedLog = z
  .strictObject({
    ok: z.boolean(),
    streams: z.int().meta({ description: 'That the log holds' }),
    problems: z
      .array(z.strictObject({ code: z.literal('TABLE'), message: z.string() }))
      .readonly()
      .meta({ description: 'Streams that the tables do not list, and rows of streams that the log does not hold' }),
  })
  .meta({ id: 'VerifiedLog' })
