import { z } from 'zod'
import { Effect } from '../definition/tools.ts'
import { count, Hash, Json, text } from './event-parts.ts'

// Storage format, as events.ts: what a person accepts after the log has lost its end.

/** A call that began in the lost part, as the tables saw it. */
export const LostCall = z.strictObject({
  toolCallId: text,
  toolName: text,
  argumentsHash: Hash,
  effect: Effect,
})
export type LostCall = z.infer<typeof LostCall>

export const lossEvents = {
  /**
   * A person has accepted that this stream lost its end. `revision` and `hash`: its last event as the tables saw it; null:
   * not known. `unlisted`: other calls than these may have begun there.
   */
  loss_accepted: z.strictObject({
    revision: count.nullable(),
    hash: Hash.nullable(),
    calls: z.array(LostCall),
    unlisted: z.literal(true).optional(),
    /** The cost of the model calls of the lost part, as the tables saw them; absent: not known. */
    nanoDollars: count.optional(),
    reason: text.optional(),
  }),
  /** A person's decision on a call that began in the lost part. One that happened joins the messages. */
  lost_call_decided: z.strictObject({
    decision: z.enum(['happened', 'run', 'abandon']),
    toolName: text,
    result: Json.optional(),
    reason: text.optional(),
  }),
  /** A person lets irreversible calls run again, although it is not known which calls the lost part held. */
  loss_released: z.strictObject({ reason: text.optional() }),
} as const
