import { z } from 'zod'
import { isPlain, PLAIN } from '../text/plain-text.ts'

const Step = z
  .string()
  .regex(/^(?:[^:]+:)?\d+$/, { error: 'expected a step, or <agent>:<step>' })
  .refine(isPlain, PLAIN)
  .meta({ description: 'A step of this run, or <agent>:<step>' })

export const StatesQuery = z.strictObject({
  a: Step,
  b: Step,
  only: z
    .enum(['files'])
    .optional()
    .meta({ description: 'files: state and messages are not compared, which is quick' }),
})
