import { z } from 'zod'
import { MOMENT, Moment } from '../moment-schema.ts'
import { omitUndefined } from '../omit-undefined.ts'
import { operation } from '../operation.ts'
import { mustBeRun } from '../runs/run-of-agent.ts'
import { Id } from '../schemas.ts'
import { CauseCost, Cost, CostBy } from './cost-schemas.ts'
import { Numbers, NumbersQuery } from './schemas.ts'

/** Figures over runs: calls, durations and costs. */
export const NUMBER_OPERATIONS = [
  operation({
    name: 'getNumbers',
    http: 'GET /v1/numbers',
    right: 'runs.read',
    summary: 'Calls of tools and models, how they failed and how long they took, routing, recoveries and budgets',
    input: { query: NumbersQuery },
    output: Numbers,
    answers: { 200: 'The figures' },
    awaitsTables: true,
    run: async (s, { query: { since, run } }) => {
      if (run !== undefined) await mustBeRun(s, run)
      const { position, value } = await s.read.numbers(omitUndefined({ since, runId: run }))
      return { position, ...value }
    },
  }),
  operation({
    name: 'getCost',
    http: 'GET /v1/cost',
    right: 'runs.read',
    summary: 'What model calls cost by model, role, day (UTC) or tool, of all runs or of one',
    input: {
      query: z.strictObject({
        by: CostBy.default('model'),
        since: Moment.optional().meta({ type: 'string', description: `Calls that ended then or later: ${MOMENT}` }),
        run: Id.optional(),
      }),
    },
    output: Cost,
    answers: { 200: 'The costs' },
    awaitsTables: true,
    run: async (s, { query: { by, since, run } }) => {
      if (run !== undefined) await mustBeRun(s, run)
      const { position, value } = await s.read.cost(omitUndefined({ by, since, runId: run }))
      return { position, by, ...value }
    },
  }),
  operation({
    name: 'getCostByCause',
    http: 'GET /v1/cost/causes',
    right: 'runs.read',
    summary:
      'What the money of model calls went for: answers, results that were sent again, retries, lost attempts, abandoned branches, compression',
    input: {
      query: z.strictObject({
        since: Moment.optional().meta({ type: 'string', description: `Runs that began then or later: ${MOMENT}` }),
        run: Id.optional(),
      }),
    },
    output: CauseCost,
    answers: { 200: 'The costs' },
    awaitsTables: true,
    run: async (s, { query: { since, run } }) => {
      if (run !== undefined) await mustBeRun(s, run)
      const { position, value } = await s.read.costByCause(omitUndefined({ since, runId: run }))
      return { position, rows: value }
    },
  }),
] as const
