import { z } from 'zod'
import { count, Hash, Json, text } from './event-parts.ts'

// Storage format, as events.ts: the emptying of bodies.

export const erasureEvents = {
  /**
   * What the fold needs of bodies that the next `erased` empties, without what people, models and tools said: one entry for each that could
   * be read, in the shape of its type's version.
   */
  residue: z.strictObject({
    bodies: z.array(z.strictObject({ revision: count, version: z.int().positive(), body: Json })).min(1),
  }),
  /**
   * Bodies of this stream that were emptied for ever in its own append. Small, and so never in the blob store: what was
   * erased is proved without it. It and its `residue` carry no digest, though they end an append: what cannot be folded
   * must be erasable too, and they change nothing of the state; the next digest commits to them.
   */
  erased: z.strictObject({
    bodies: z.array(z.strictObject({ revision: count, bodyHash: Hash })).min(1),
    reason: text,
  }),
} as const
