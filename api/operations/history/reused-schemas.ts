import { z } from 'zod'

const count = z.int().nonnegative()

/** How far a fork has followed the record of its source. */
export const Reused = z
  .strictObject({
    source: z.string().meta({ description: 'The agent whose record it follows' }),
    models: count.meta({
      description: 'Answers and failures of models that were taken from the record, and not billed',
    }),
    tools: count.meta({ description: 'Outcomes of calls that were taken from the record, and not performed' }),
    left: z
      .strictObject({
        revision: count,
        turn: count,
        toolCallId: z.string().nullable().meta({ description: 'null: at a request to the model' }),
        reason: z.string(),
        differs: z
          .array(z.string())
          .readonly()
          .meta({ description: 'Members of the request that are not the recorded ones' }),
      })
      .nullable()
      .meta({ description: 'Where it left the record, and why; null: it has not' }),
  })
  .meta({ id: 'Reused', description: 'What a fork has taken from the record, and where it left it' })
export type Reused = z.infer<typeof Reused>
