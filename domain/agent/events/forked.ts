import { z } from 'zod'
import { Budget, Limits } from '../definition/spec.ts'
import { argumentsSalt, count, Hash, text } from './event-parts.ts'

// These names and shapes are the storage format (see events.ts).

/** The request for the run also asked for a drive; absent: the run waits for a resume. */
export const drive = z.literal(true).optional()

/** First event of a fork: the prefix is read from its source. What a fork may change is named, the rest is inherited. */
export const forked = z.strictObject({
  stream: text,
  revision: count,
  hash: Hash,
  /** Of the state at the point, as a header carries it. */
  digest: z.strictObject({ fold: z.int().positive(), value: Hash }),
  step: count,
  /** The fork waits for input: its source had ended at the point, or waited there. */
  waits: z.literal(true).optional(),
  /** Used where that of the source has been erased. */
  argumentsSalt,
  workspace: z.strictObject({ path: z.string().min(1), tree: z.string().nullable() }).nullable(),
  changes: z.strictObject({
    model: text.optional(),
    limits: Limits.partial().optional(),
    budget: Budget.partial().optional(),
  }),
  /** The fork takes recorded outcomes of this stream's history after the point, as long as it asks for the same. */
  reuse: z.strictObject({ stream: text }).optional(),
  drive,
})
