import { createRoute } from '@hono/zod-openapi'
import { firstOf } from '../../../domain/agent/runtime/history/history.ts'
import { outlineOf } from '../../../domain/agent/runtime/history/outline.ts'
import { agentStream } from '../../../domain/log/ids.ts'
import { idOf } from '../../../domain/log/owner.ts'
import { streamOfAgent } from '../../../domain/tree/runtime/stream-of-agent.ts'
import { eventPage } from '../../http/event-page.ts'
import { json, newApp, refusals, written } from '../../http/new-app.ts'
import { streamResponse } from '../../http/stream-response.ts'
import { AgentBriefAtPoint } from '../history/checkpoint-schemas.ts'
import { AgentEventPage, AgentEventsQuery, AgentId, OutlineQuery, OutlineView } from '../history/outline-schemas.ts'
import { briefPointOf } from '../history/point.ts'
import { atOf } from '../history/routes.ts'
import { runOfAgent } from '../runs/run-of-agent.ts'
import { PointQuery } from '../schemas.ts'
import type { Services } from '../services.ts'

const outline = createRoute({
  method: 'get',
  path: '/v1/agents/{id}/outline',
  operationId: 'getAgentOutline',
  summary: "The types, turns and times of an agent's own events, by revision, without their bodies",
  request: { params: AgentId, query: OutlineQuery },
  responses: { 200: json(OutlineView, 'The outline'), ...refusals },
})

const events = createRoute({
  method: 'get',
  path: '/v1/agents/{id}/events',
  operationId: 'listAgentEvents',
  summary: "An agent's own events from a revision on",
  request: { params: AgentId, query: AgentEventsQuery },
  responses: { 200: json(AgentEventPage, 'A page of events'), ...refusals },
})

const brief = createRoute({
  method: 'get',
  path: '/v1/agents/{id}/brief',
  operationId: 'getAgentBrief',
  summary: 'The state at a step, turn or event without the messages, at a cost that does not grow with the history',
  request: { params: AgentId, query: PointQuery },
  responses: { 200: json(AgentBriefAtPoint, 'The state'), ...refusals },
})

/** An agent's own events by their place in its stream: any part of a long history without what comes before it. */
export function agentEventRoutes(s: Services) {
  const inheritedOf = async (agentId: string) => {
    const first = await firstOf(s, agentStream(agentId)).catch(() => null)
    if (first?.type !== 'forked') return null
    const { stream, revision, step } = first.body
    return { agentId: idOf(stream), revision, step }
  }
  /** Of keepup's own agent or another one. Rejects with 404 where there is neither. */
  const placeOf = async (agentId: string) => {
    const runId = await runOfAgent(s, agentId)
    return { runId, stream: (await streamOfAgent(s.log, agentId)) ?? agentStream(agentId) }
  }
  return newApp()
    .openapi(outline, async (c) => {
      const { id } = c.req.valid('param')
      const { from = 0, limit } = c.req.valid('query')
      const { runId, stream } = await placeOf(id)
      const all = await outlineOf(s.log, stream)
      const part = <T>(column: readonly T[]) => column.slice(from, from + limit)
      const types = part(all.types)
      const names = [...new Set(types)]
      const place = new Map(names.map((name, i) => [name, i]))
      const columns = { turns: part(all.turns), times: part(all.times), calls: part(all.calls), sizes: part(all.sizes) }
      const inherited = await inheritedOf(id)
      const about = { agentId: id, runId, from, length: all.length, inherited, names }
      return c.json({ ...about, types: types.map((type) => place.get(type)!), ...columns }, 200)
    })
    .openapi(brief, async (c) => {
      const { id } = c.req.valid('param')
      const point = briefPointOf(await s.runtime.brief(id, atOf(c.req.valid('query'))))
      c.header('ETag', `"${point.revision}"`)
      return c.json(point, 200)
    })
    .openapi(events, async (c) => {
      const { id } = c.req.valid('param')
      const { from = 0, limit, brief } = c.req.valid('query')
      const { stream } = await placeOf(id)
      return written(streamResponse(eventPage(s, stream, { from, limit, brief: brief === 'true' }), { format: 'json' }))
    })
}
