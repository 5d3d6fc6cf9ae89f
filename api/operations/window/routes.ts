import { createRoute, z } from '@hono/zod-openapi'
import { body, json, newApp, RunId, refusals } from '../../http/new-app.ts'
import { CommandHeaders, optionsOf } from '../headers.ts'
import { given } from '../omit-undefined.ts'
import { record } from '../runs/record-command.ts'
import { actorOf } from '../runs/request-options.ts'
import { Id, Recorded } from '../schemas.ts'
import type { Services } from '../services.ts'
import { contextView } from './context-view.ts'
import { ContextView, ExpandBody } from './schemas.ts'

const view = createRoute({
  method: 'get',
  path: '/v1/runs/{id}/context',
  operationId: 'getContext',
  summary: 'What the next request shows of the messages: ranges, tokens, summary and knowledge',
  request: { params: RunId, query: z.strictObject({ agent: Id.optional() }) },
  responses: { 200: json(ContextView, 'The context'), ...refusals },
})

const expand = createRoute({
  method: 'post',
  path: '/v1/runs/{id}/context/expand',
  operationId: 'expandContext',
  summary: 'Show hidden turns again in the next request, as far as they fit',
  request: { params: RunId, headers: CommandHeaders, body: body(ExpandBody) },
  responses: { 200: json(Recorded, 'Recorded'), ...refusals },
})

/** The context of an agent, and how people bring hidden turns back. */
export function contextRoutes(s: Services) {
  return newApp()
    .openapi(view, async (c) => {
      const { id } = c.req.valid('param')
      return c.json(await contextView(s, id, c.req.valid('query').agent ?? id), 200)
    })
    .openapi(expand, async (c) => {
      const { id } = c.req.valid('param')
      const { agent = id, turns, by } = c.req.valid('json')
      const command = given({ kind: 'expand_context' as const, turns })
      const options = optionsOf(c.req.valid('header'))
      const done = await record(s, { agentId: agent, command, actor: actorOf('user', by), options, drive: 'no' })
      return c.json(done, 200, { ETag: `"${done.revision}"` })
    })
}
