import { z } from 'zod'
import { count, Hash, text } from '../log/body-parts.ts'

// What the courier adds to events of every kind. These shapes are the storage format.

const name = z.string().min(1)

/**
 * The event of another stream that this event was copied from. `losses`: the number of accepted losses of that stream's
 * end before the event. After a loss, the same revision may be a different event.
 */
export const Origin = z.strictObject({
  stream: name,
  revision: count,
  bodyHash: Hash,
  losses: z.int().positive().optional(),
})
export type Origin = z.infer<typeof Origin>

/**
 * Obligations to `target` up to this revision are settled. `accepted`: the rank of the last obligation that the
 * target recorded (its revision in a stream without losses); null: none. `bounced`: obligations that the target
 * refused for good. `stays`, only for a message: the target still accepts other messages; absent: it has finished or
 * does not exist. `again`: the target had lost an accepted obligation and refused the repeated delivery.
 */
export const delivered = z.strictObject({
  target: name,
  upTo: count,
  accepted: count.nullable(),
  bounced: z.array(z.strictObject({ revision: count, reason: text, stays: z.literal(true).optional() })),
  again: z.literal(true).optional(),
})
export type Delivered = z.infer<typeof delivered>
