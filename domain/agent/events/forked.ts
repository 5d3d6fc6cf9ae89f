import { z } from 'zod'
import { hashSalt } from '../../calls/events/event-parts.ts'
import { count, Hash, text } from '../../log/body-parts.ts'
import { Budget, Limits } from '../../tree/spec.ts'

// These names and shapes are the storage format (see events.ts).

/** The request that created the run also asked to drive it. Absent: the run waits for a resume. */
export const drive = z.literal(true).optional()

/** First event of a fork. The prefix is read from the source stream. Settings outside `changes` are inherited. */
export const forked = z.strictObject({
  stream: text,
  revision: count,
  hash: Hash,
  /** The digest of the state at the fork point, as in a header. */
  digest: z.strictObject({ fold: z.int().positive(), value: Hash }),
  step: count,
  /** The fork waits for input, because its source had ended or waited for input at the fork point. */
  waits: z.literal(true).optional(),
  /** Used if the salt of the source has been erased. */
  hashSalt,
  workspace: z.strictObject({ path: z.string().min(1), tree: z.string().nullable() }).nullable(),
  changes: z.strictObject({
    model: text.optional(),
    limits: Limits.partial().optional(),
    budget: Budget.partial().optional(),
  }),
  /**
   * The fork copies the recorded outcomes of this stream after the fork point, as long as its requests are the same.
   */
  reuse: z.strictObject({ stream: text }).optional(),
  drive,
})
