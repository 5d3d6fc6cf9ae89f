import { z } from 'zod'
import { Money, Position } from '../schemas.ts'

const count = z.int()

export const CostBy = z
  .enum(['model', 'role', 'day', 'day_model', 'tool'])
  .meta({ description: 'day_model: the name of a row is the day, a space and the model' })
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

export const CauseCost = z
  .strictObject({
    position: Position,
    rows: z
      .array(
        z.strictObject({
          cause: z.enum(['resent', 'lost', 'retry', 'compression', 'abandoned', 'answer']),
          tool: z.string().meta({ description: 'Of results that were sent again; empty for other causes' }),
          calls: count.meta({ description: 'Model calls; of results that were sent again: tool calls' }),
          tokens: count,
          ...Money,
          unpricedCalls: count.meta({ description: 'Calls of unknown cost, which the money does not count' }),
        }),
      )
      .readonly(),
  })
  .meta({ id: 'CauseCost' })
export type CauseCost = z.infer<typeof CauseCost>
