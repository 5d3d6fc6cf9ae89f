import { z } from 'zod'
import { Effect } from '../../calls/tools/tool-spec.ts'
import { AnyJsonValue, count, Hash, text } from '../../log/body-parts.ts'

// Storage format (see events.ts): a person's decisions after the log has lost its end.

/** A call that began in the lost part, as recorded by the tables. */
export const LostCall = z.strictObject({
  toolCallId: text,
  toolName: text,
  argumentsHash: Hash,
  effect: Effect,
})
export type LostCall = z.infer<typeof LostCall>

export const lossEvents = {
  /**
   * A person accepted that this stream lost its end. `revision` and `hash`: the last event known to the tables; null:
   * not known. `unlisted`: calls that are not listed may have begun in the lost part.
   */
  loss_accepted: z.strictObject({
    revision: count.nullable(),
    hash: Hash.nullable(),
    calls: z.array(LostCall),
    unlisted: z.literal(true).optional(),
    /** Cost of the model calls in the lost part, from the tables; absent: not known. */
    nanoDollars: count.optional(),
    reason: text.optional(),
  }),
  /** A person's decision on a call that began in the lost part. A call that happened joins the messages. */
  lost_call_decided: z.strictObject({
    decision: z.enum(['happened', 'run', 'abandon']),
    toolName: text,
    result: AnyJsonValue.optional(),
    reason: text.optional(),
  }),
  /** A person allows irreversible calls again, although the calls of the lost part are not known. */
  loss_released: z.strictObject({ reason: text.optional() }),
} as const
