import { z } from 'zod'
import { AnyJsonValue, count, Hash } from '../log/body-parts.ts'
import type { Erasing } from './aggregate.ts'

// Storage format: the erasure of bodies, the same in every kind of stream.

export const RESIDUE = 'residue'

/** The most bodies that one append empties. */
export const MAX_ERASED = 1_024

/** Why bodies were erased: a closed set for reports. The fact's `reason` says it in words. */
export const ErasureCode = z.enum(['subject_request', 'retention', 'secret', 'legal', 'mistake', 'other'])
export type ErasureCode = z.infer<typeof ErasureCode>

export const erasureEvents = {
  /**
   * The residues of bodies that the next `erased` empties: the parts that the fold needs, without text of people,
   * models and tools. One entry for each readable body, in the shape of its type's version.
   */
  residue: z.strictObject({
    bodies: z.array(z.strictObject({ revision: count, version: z.int().positive(), body: AnyJsonValue })).min(1),
  }),
  /**
   * Bodies of this stream that were emptied permanently in this append. The fact is small and always inline, so the
   * proof of an erasure needs no blob. `erased` and `residue` carry no digest, although they end an append: they do not
   * change the state, and a stream that cannot be folded must be erasable too. The next digest commits to them.
   */
  erased: z.strictObject({
    bodies: z.array(z.strictObject({ revision: count, bodyHash: Hash })).min(1),
    code: ErasureCode,
    reason: z.string(),
  }),
} as const

/** Bodies to erase: their stream, its run (null: none) and their revisions. */
export interface Doomed {
  readonly stream: string
  readonly run: string | null
  readonly revisions: readonly number[]
}

export type Residue = z.infer<typeof erasureEvents.residue>['bodies'][number]

export const ERASURE_VERSION = 1

/** By event type: what an erasure leaves of a body. Bodies of absent types contain no text of people, models or tools. */
type Residues = { readonly [type: string]: ((body: never, bodyHash: string) => unknown) | undefined }

/** The rules of an erasure for the bodies of a kind. */
export const erasingBy = (residues: Residues): Pick<Erasing, 'says' | 'residue'> => ({
  says: (type) => Object.hasOwn(residues, type),
  residue: (type, body, bodyHash) => {
    const residue = residues[type] as ((body: unknown, bodyHash: string) => unknown) | undefined
    return residue === undefined ? body : residue(body, bodyHash)
  },
})
