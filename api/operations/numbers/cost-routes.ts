import { createRoute, z } from '@hono/zod-openapi'
import { current } from '../../http/lag-headers.ts'
import { json, newApp, refusals } from '../../http/new-app.ts'
import { MOMENT, Moment } from '../moment-schema.ts'
import { given } from '../omit-undefined.ts'
import { mustBeRun } from '../runs/run-of-agent.ts'
import { Id } from '../schemas.ts'
import type { Services } from '../services.ts'
import { Cost, CostBy } from './cost-schemas.ts'

const cost = createRoute({
  method: 'get',
  path: '/v1/cost',
  operationId: 'getCost',
  summary: 'What model calls cost by model, role, day (UTC) or tool, of all runs or of one',
  request: {
    query: z.strictObject({
      by: CostBy.default('model'),
      since: Moment.optional().openapi({ type: 'string', description: `Calls that ended then or later: ${MOMENT}` }),
      run: Id.optional(),
    }),
  },
  responses: { 200: json(Cost, 'The costs'), ...refusals },
})

/** The whole cost. */
export function costRoutes(s: Services) {
  return newApp().openapi(cost, async (c) => {
    const { by, since, run } = c.req.valid('query')
    if (run !== undefined) await mustBeRun(s, run)
    await current(c, s)
    const { position, value } = await s.read.cost(given({ by, since, runId: run }))
    return c.json({ position, by, ...value }, 200)
  })
}
