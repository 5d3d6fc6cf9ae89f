import { z } from 'zod'
import { Money, Position } from '../schemas.ts'

const count = z.int()

export const CostBy = z.enum(['model', 'role', 'day', 'tool'])
export type CostBy = z.infer<typeof CostBy>

const Sum = z.strictObject({
  modelCalls: count,
  inputTokens: count,
  cacheReadTokens: count,
  cacheWriteTokens: count,
  outputTokens: count,
  ...Money,
  unpricedCalls: count.meta({ description: 'Calls of unknown cost, which the money does not count' }),
  inDoubtNanoDollars: count.meta({ description: 'The part of the money that is estimated' }),
})

export const Cost = z
  .strictObject({
    position: Position,
    by: CostBy,
    rows: z
      .array(Sum.extend({ name: z.string() }))
      .readonly()
      .meta({ description: 'By tool a turn counts in full for every tool that it called' }),
    total: Sum.meta({ description: 'Every model call once' }),
  })
  .meta({ id: 'Cost' })
export type Cost = z.infer<typeof Cost>
