import { z } from 'zod'
import { Usage } from '../../calls/content.ts'
import { EventPlace, text } from '../../log/body-parts.ts'

// Outcomes that a fork copies from the record of its source run (seed 000, 5.9). These shapes are the storage format.

/** A recorded answer. `usage`: the usage when the provider answered; it is not billed again. */
export const ReusedAnswer = EventPlace.extend({ usage: Usage })

export const reuseEvents = {
  /**
   * The run stopped following the record for good: the next effect differs from the recorded one, or its outcome cannot
   * be copied. The effect is the call in the header, or else a model call. `differs`: the members of the request that
   * differ. `recorded`: the event it was compared with, if any.
   */
  reuse_ended: z.strictObject({
    reason: text,
    differs: z.array(z.string().min(1)),
    recorded: EventPlace.optional(),
  }),
} as const
