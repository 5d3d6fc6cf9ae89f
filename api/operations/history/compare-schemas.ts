import { z } from 'zod'
import { AnyJson, Digits, Id } from '../schemas.ts'

const count = z.int().nonnegative()

const Said = z.strictObject({
  agentId: z.string(),
  revision: count,
  value: AnyJson.optional().meta({ description: 'Only where the two runs differ' }),
})

export const ComparedPlace = z
  .strictObject({
    path: z
      .array(z.string())
      .readonly()
      .meta({ description: 'The way to it, such as turn 2, call 0, agent, turn 1, answer' }),
    kind: z.enum(['asked', 'answered', 'decided']),
    same: z.boolean(),
    a: Said.nullable().meta({ description: 'null: this run has nothing there' }),
    b: Said.nullable(),
  })
  .meta({ id: 'ComparedPlace', description: 'A place of two runs that are beside each other' })

export const CompareQuery = z.strictObject({
  with: Id.meta({ description: 'The other run' }),
  offset: Digits.prefault('0').meta({ type: 'integer' }),
  limit: Digits.pipe(z.int().min(1).max(2_000)).prefault('200').meta({ type: 'integer' }),
})

/** The comparison of two runs, aligned by cause. */
export const RunComparison = z
  .strictObject({
    a: z.string(),
    b: z.string(),
    common: count.meta({ description: 'Places that are the same before the first difference' }),
    total: count,
    first: ComparedPlace.nullable().meta({ description: 'The first difference; null: there is none' }),
    places: z.array(ComparedPlace).readonly().meta({ description: 'From `offset` on, causes before what follows' }),
  })
  .meta({ id: 'RunComparison' })
