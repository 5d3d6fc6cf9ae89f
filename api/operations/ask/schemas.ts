import { z } from 'zod'
import { MOMENT, Moment } from '../moment-schema.ts'
import { Id } from '../schemas.ts'
import { MOST_ROWS, SqlAnswer } from '../sql/schemas.ts'
import { isPlain, PLAIN } from '../text/plain-text.ts'

const text = (description: string) =>
  z.string().min(1).max(1_000).refine(isPlain, PLAIN).optional().meta({ description })

/** What a question asks about. A question refuses inputs that it does not have. */
export const QuestionInputs = z.strictObject({
  run: Id.optional().meta({ description: 'Id of a run' }),
  path: text('A file in the workspace'),
  person: text('A person or a service, such as `ada`'),
  from: Moment.optional().meta({ type: 'string', description: `From then on: ${MOMENT}` }),
  to: Moment.optional().meta({ type: 'string', description: `Before then: ${MOMENT}` }),
  dollars: z
    .string()
    .regex(/^\d{1,9}(\.\d{1,9})?$/, 'an amount in dollars, such as 2.50')
    .optional(),
  turn: z
    .string()
    .regex(/^\d{1,9}$/, 'a whole number')
    .optional(),
})
export type QuestionInputs = z.output<typeof QuestionInputs>

export const AuditQuestion = z
  .strictObject({
    name: z.string(),
    title: z.string(),
    inputs: z
      .array(
        z.strictObject({
          name: QuestionInputs.keyof(),
          label: z.string(),
          example: z.string(),
          required: z.boolean(),
        }),
      )
      .readonly(),
    sql: z
      .string()
      .nullable()
      .meta({ description: 'The SELECT that answers it. Inputs stand as `:name`, for a literal' }),
    command: z.string().nullable().meta({ description: 'The command that answers it, when no SELECT can' }),
  })
  .meta({ id: 'AuditQuestion', description: 'A question of auditors, with its SQL' })
export type AuditQuestion = z.infer<typeof AuditQuestion>

export const AuditQuestionList = z
  .strictObject({ dialect: z.enum(['sqlite', 'postgres']), questions: z.array(AuditQuestion).readonly() })
  .meta({ id: 'AuditQuestionList' })
export type AuditQuestionList = z.infer<typeof AuditQuestionList>

export const AskQuery = QuestionInputs.extend({
  limit: z.coerce.number().int().min(1).max(MOST_ROWS).default(1_000).meta({ description: 'Rows' }),
})

export const QuestionAnswer = SqlAnswer.extend({
  question: z.string(),
  title: z.string(),
}).meta({ id: 'AuditAnswer' })
export type QuestionAnswer = z.infer<typeof QuestionAnswer>
