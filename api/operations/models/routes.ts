import { createRoute, z } from '@hono/zod-openapi'
import { json, newApp, refusals } from '../../http/new-app.ts'
import { Digits, Id } from '../schemas.ts'
import type { Services } from '../services.ts'
import { Models, RoutingDecisions } from './schemas.ts'

const list = createRoute({
  method: 'get',
  path: '/v1/models',
  operationId: 'listModels',
  summary: 'The models, with prices, capabilities and health, and the current choice among them',
  responses: { 200: json(Models, 'Models'), ...refusals },
})

const explain = createRoute({
  method: 'get',
  path: '/v1/runs/{id}/turns/{turn}/routing',
  operationId: 'getRouting',
  summary:
    'Why a turn had its model: the rule that matched, the models that it allows, why each was refused; and which permissions let its calls through',
  request: {
    params: z.object({ id: Id, turn: Digits.pipe(z.int().positive()) }),
    query: z.strictObject({ agent: Id.optional() }),
  },
  responses: { 200: json(RoutingDecisions, 'The decisions before each model call of the turn'), ...refusals },
})

/** The models, and the router's decisions. */
export function modelRoutes(s: Services) {
  return newApp()
    .openapi(list, async (c) => c.json(s.models(), 200))
    .openapi(explain, async (c) => {
      const { id, turn } = c.req.valid('param')
      const agentId = c.req.valid('query').agent ?? id
      const found = await s.runtime.routing(agentId, turn)
      const decisions = found.map(({ at, ...rest }) => ({ ...rest, timestamp: new Date(at).toISOString() }))
      const permitted = await s.runtime.permitted(agentId, turn)
      return c.json({ runId: id, agentId, turn, decisions, permitted }, 200)
    })
}
