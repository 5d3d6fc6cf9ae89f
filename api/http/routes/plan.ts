import { createRoute } from '@hono/zod-openapi'
import { planView } from '../../app/plans/plan-view.ts'
import { PlanQuery, PlanView } from '../../app/schemas/plan.ts'
import type { Services } from '../../app/services.ts'
import { json, newApp, RunId, refusals } from '../new-app.ts'

const plan = createRoute({
  method: 'get',
  path: '/v1/runs/{id}/plan',
  operationId: 'getPlan',
  summary: 'The tasks that an agent keeps, and every version of the plans of a run',
  request: { params: RunId, query: PlanQuery },
  responses: { 200: json(PlanView, 'The plan'), ...refusals },
})

export function planRoutes(s: Services) {
  return newApp().openapi(plan, async (c) =>
    c.json(await planView(s, c.req.valid('param').id, c.req.valid('query').agent), 200),
  )
}
