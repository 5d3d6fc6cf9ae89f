import { createRoute, z } from '@hono/zod-openapi'
import { json, newApp, refusals } from '../../http/new-app.ts'
import { notFound } from '../problem.ts'
import { Id } from '../schemas.ts'
import type { Services } from '../services.ts'
import { agentViews } from './list-agents.ts'
import { Agent, AgentList } from './schemas.ts'

const list = createRoute({
  method: 'get',
  path: '/v1/agents',
  operationId: 'listAgents',
  summary: 'The kinds of agents that a run may ask for, what each can do, and what of it is installed here',
  responses: { 200: json(AgentList, 'Agents'), ...refusals },
})

const show = createRoute({
  method: 'get',
  path: '/v1/agents/{kind}',
  operationId: 'getAgent',
  summary: 'A kind of agent: what it can do, and what of it is installed here',
  request: { params: z.object({ kind: Id }) },
  responses: { 200: json(Agent, 'The agent'), ...refusals },
})

/** Kinds of agents. */
export function agentRoutes(s: Services) {
  return newApp()
    .openapi(list, async (c) => c.json({ agents: await agentViews(s) }, 200))
    .openapi(show, async (c) => {
      const { kind } = c.req.valid('param')
      const [found] = await agentViews(s, kind)
      if (found === undefined) throw notFound('agent', kind, 'GET /v1/agents (keepup agents list) lists the kinds')
      return c.json(found, 200)
    })
}
