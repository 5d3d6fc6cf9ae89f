import { z } from 'zod'

// Storage format: the emptying of bodies, the same in every kind of stream.

export const RESIDUE = 'residue'

const count = z.int().nonnegative()
const Hash = z.string().regex(/^[0-9a-f]{64}$/)
/** Whatever JSON text says is JSON: only its absence can be wrong. */
const Json = z.unknown().refine((value) => value !== undefined, 'expected a value') as unknown as z.ZodType<
  z.infer<ReturnType<typeof z.json>>
>

export const erasureEvents = {
  /**
   * The residue that the fold needs of bodies that the next `erased` empties, without what people, models and tools said:
   * one entry for each that could be read, in the shape of its type's version.
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
    reason: z.string(),
  }),
} as const

/** The residue of one erased body. */
export type Residue = z.infer<typeof erasureEvents.residue>['bodies'][number]

/** The version of {@link erasureEvents}. */
export const ERASURE_VERSION = 1
