import { createRoute, z } from '@hono/zod-openapi'
import type { Services } from '../../services.ts'
import { current } from '../current.ts'
import { json, newApp, refusals } from '../new-app.ts'
import { Id } from '../schemas/common.ts'
import { Cost, CostBy } from '../schemas/cost.ts'

const Since = z.union([z.iso.date(), z.iso.datetime()], {
  error: 'expected a day or an instant in UTC, such as 2026-11-01 or 2026-11-01T12:00:00Z',
})

const cost = createRoute({
  method: 'get',
  path: '/v1/cost',
  summary: 'What model calls cost by model, role, day (UTC) or tool, of all runs or of one',
  request: {
    query: z.strictObject({ by: CostBy.default('model'), since: Since.optional(), run: Id.optional() }),
  },
  responses: { 200: json(Cost, 'The costs'), ...refusals },
})

/** What it all cost. */
export function costRoutes(s: Services) {
  return newApp().openapi(cost, async (c) => {
    const { by, since, run } = c.req.valid('query')
    await current(c, s)
    const which = {
      ...(since === undefined ? {} : { since: new Date(since).toISOString() }),
      ...(run === undefined ? {} : { runId: run }),
    }
    const { position, value } = await s.read.cost({ by, ...which })
    return c.json({ position, by, ...value }, 200)
  })
}
