import { createRoute, z } from '@hono/zod-openapi'
import { agentOfCall } from '../../../domain/agent/runtime/history/results.ts'
import { body, json, newApp, RunId, refusals } from '../../http/new-app.ts'
import { CommandHeaders, optionsOf } from '../headers.ts'
import { given } from '../omit-undefined.ts'
import { notFound } from '../problem.ts'
import { record } from '../runs/record-command.ts'
import { actorOf } from '../runs/request-options.ts'
import { Id, Recorded } from '../schemas.ts'
import type { Services } from '../services.ts'
import { permissionsOf } from './permissions-of.ts'
import { PermissionList, RevokeBody } from './schemas.ts'

const list = createRoute({
  method: 'get',
  path: '/v1/runs/{id}/permissions',
  operationId: 'listPermissions',
  summary: 'What people have permitted an agent beyond its policy, as far as it is in force',
  request: { params: RunId, query: z.strictObject({ agent: Id.optional() }) },
  responses: { 200: json(PermissionList, 'The permissions'), ...refusals },
})

const revoke = createRoute({
  method: 'post',
  path: '/v1/permissions/{toolCallId}/revoke',
  operationId: 'revokePermission',
  summary: 'Take a permission back: later calls of the tool are refused again, calls at work finish',
  request: { params: z.object({ toolCallId: Id }), headers: CommandHeaders, body: body(RevokeBody) },
  responses: { 200: json(Recorded, 'Recorded'), ...refusals },
})

/** The permissions of an agent, and how people take them back. */
export function permissionRoutes(s: Services) {
  return newApp()
    .openapi(list, async (c) => {
      const { id } = c.req.valid('param')
      const agentId = c.req.valid('query').agent ?? id
      const { state } = await s.runtime.at(agentId, null)
      return c.json({ runId: state.runId, agentId, permissions: permissionsOf(state) }, 200)
    })
    .openapi(revoke, async (c) => {
      const { toolCallId } = c.req.valid('param')
      const agentId = agentOfCall(toolCallId)
      if (agentId === null) throw notFound('tool call', toolCallId, 'an id looks like <agent>.t<turn>.c<index>')
      const { by, ...why } = c.req.valid('json')
      const command = { kind: 'revoke_permission' as const, toolCallId, ...given(why) }
      const options = optionsOf(c.req.valid('header'))
      const done = await record(s, { agentId, command, actor: actorOf('approver', by), options, drive: 'wake' })
      return c.json(done, 200, { ETag: `"${done.revision}"` })
    })
}
