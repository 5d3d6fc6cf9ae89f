import { createRoute } from '@hono/zod-openapi'
import { json, newApp, RunId, refusals } from '../../http/new-app.ts'
import type { Services } from '../services.ts'
import { planView } from './plan-view.ts'
import { PlanQuery, PlanView } from './schemas.ts'

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
