import { z } from 'zod'
import { Usage } from './content.ts'
import { count, text } from './event-parts.ts'

// Outcomes that a fork takes from the record of the run that it was made of (seed 000, 5.9). These shapes are the storage
// format.

/** An event of the record, which for a fork of a fork may lie in the stream of either. */
export const Place = z.strictObject({ stream: z.string().min(1), revision: count })
export type Place = z.infer<typeof Place>

/** An answer that was taken from the record. `usage`: what it took when the provider gave it; it is not billed again. */
export const ReusedAnswer = Place.extend({ usage: Usage })

export const reuseEvents = {
  /**
   * The run has left the record for good: the effect that was due next is not the recorded one, or its outcome cannot be
   * taken. About a model call, or about the call that the header names. `differs`: the members of the request that are not
   * those of the record. `recorded`: the event that it was compared with, where there is one.
   */
  reuse_ended: z.strictObject({
    reason: text,
    differs: z.array(z.string().min(1)),
    recorded: Place.optional(),
  }),
} as const
