import { z } from 'zod'
import { operation } from '../operation.ts'
import { Id } from '../schemas.ts'
import { planView } from './plan-view.ts'
import { PlanQuery, PlanView } from './schemas.ts'

export const PLAN_OPERATIONS = [
  operation({
    name: 'getPlan',
    http: 'GET /v1/runs/{id}/plan',
    right: 'bodies.read',
    summary: 'The tasks that an agent keeps, and every version of the plans of a run',
    input: { params: z.object({ id: Id }), query: PlanQuery },
    output: PlanView,
    answers: { 200: 'The plan' },
    run: (s, { params, query }) => planView(s, params.id, query.agent),
  }),
] as const
