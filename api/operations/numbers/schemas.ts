import { z } from 'zod'
import { MOMENT, Moment } from '../moment-schema.ts'
import { Id, Position } from '../schemas.ts'

const count = z.int().nonnegative()
const ms = z.number().nonnegative().nullable()

export const NumbersQuery = z.strictObject({
  since: Moment.optional().meta({
    type: 'string',
    description: `Calls that ended then or later, and runs that began: ${MOMENT}`,
  }),
  run: Id.optional(),
})

const Measured = z
  .strictObject({
    name: z.string(),
    calls: count,
    failed: count,
    p50: ms,
    p95: ms,
    p99: ms,
    most: ms,
  })
  .meta({
    id: 'Measured',
    description: 'Times in ms, nearest rank; null: no call has one. `name`: a tool, model or day',
  })
export type Measured = z.infer<typeof Measured>

const Failures = z.strictObject({ name: z.string(), code: z.string(), count })
const list = <T extends z.ZodType>(of: T) => z.array(of).readonly()

/** Figures of a deployment: calls, failures, durations, router decisions, recoveries and budgets. */
export const Numbers = z
  .strictObject({
    position: Position,
    tools: list(Measured),
    toolFailures: list(Failures).meta({ description: 'Failed and refused calls, by their codes' }),
    models: list(Measured).meta({ description: 'Attempts; one that was given up has failed' }),
    modelFailures: list(Failures),
    toolDays: list(Measured).meta({ description: 'By day (UTC)' }),
    modelDays: list(Measured),
    runDays: list(z.strictObject({ day: z.string(), started: count, completed: count, failed: count })),
    routes: list(
      z.strictObject({
        requested: z.string(),
        resolved: z.string(),
        policy: z.string(),
        purpose: z.string(),
        count,
      }),
    ),
    recoveries: z.strictObject({ underWay: count, failed: count }),
    budgets: list(
      z.strictObject({
        runId: z.string(),
        status: z.string(),
        tokens: count.nullable(),
        spentTokens: count,
        reservedTokens: count,
        nanoDollars: count.nullable(),
        spentNanoDollars: count,
        reservedNanoDollars: count,
      }),
    ).meta({ description: 'Of the root agents of the youngest runs that have one, 200 at most; null: no limit' }),
  })
  .meta({ id: 'Numbers' })
export type Numbers = z.infer<typeof Numbers>
