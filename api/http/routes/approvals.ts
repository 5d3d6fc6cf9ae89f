import { createRoute, z } from '@hono/zod-openapi'
import { previewOf } from '../../runs/approval-preview.ts'
import { actorOf, notFound, type RecentKeys, record } from '../../runs/commands.ts'
import type { Services } from '../../services.ts'
import { body, CommandHeaders, json, newApp, refusals } from '../new-app.ts'
import { ApprovalDetail, ApprovalList, DecisionBody, DoubtBody } from '../schemas/approvals.ts'
import { Recorded } from '../schemas/common.ts'

const CallId = z.object({ toolCallId: z.string().min(1).max(300) })

const list = createRoute({
  method: 'get',
  path: '/v1/approvals',
  summary: 'Approvals that wait, or those in another state',
  request: {
    query: z.strictObject({
      run: z.string().min(1).optional(),
      state: z.enum(['pending', 'approved', 'rejected', 'expired', 'all']).default('pending'),
    }),
  },
  responses: { 200: json(ApprovalList, 'Approvals'), ...refusals },
})

const show = createRoute({
  method: 'get',
  path: '/v1/approvals/{toolCallId}',
  summary: 'An approval with what it is about: a diff, a command, or arguments',
  request: { params: CallId },
  responses: { 200: json(ApprovalDetail, 'The approval'), ...refusals },
})

const decide = createRoute({
  method: 'post',
  path: '/v1/approvals/{toolCallId}',
  summary: 'Approve or reject a call',
  request: { params: CallId, headers: CommandHeaders, body: body(DecisionBody) },
  responses: { 200: json(Recorded, 'Recorded'), ...refusals },
})

const resolve = createRoute({
  method: 'post',
  path: '/v1/doubts/{toolCallId}',
  summary: 'Say what became of a call whose outcome is unknown',
  request: { params: CallId, headers: CommandHeaders, body: body(DoubtBody) },
  responses: { 200: json(Recorded, 'Recorded'), ...refusals },
})

/** The agent of a tool call, from the call's id. */
export function agentOfCall(toolCallId: string): string {
  const agentId = /^(.+)\.t\d+\.c\d+$/.exec(toolCallId)?.[1]
  if (agentId === undefined) throw notFound('tool call', 'an id looks like <agent>.t<turn>.c<index>')
  return agentId
}

export function approvalRoutes(s: Services, keys: RecentKeys) {
  return newApp()
    .openapi(list, async (c) => {
      const { run, state } = c.req.valid('query')
      await s.read.caughtUp()
      const query = { ...(run === undefined ? {} : { runId: run }), ...(state === 'all' ? {} : { state }) }
      const { position, value } = await s.read.approvals(query)
      return c.json({ position, approvals: value }, 200)
    })
    .openapi(show, async (c) => {
      await s.read.caughtUp()
      const { position, value } = await s.read.approval(c.req.valid('param').toolCallId)
      if (!value) throw notFound('approval', 'list them with GET /v1/approvals')
      return c.json({ position, approval: value, preview: await previewOf(value, s.files) }, 200)
    })
    .openapi(decide, async (c) => {
      const { toolCallId } = c.req.valid('param')
      const { by, decision, argumentsHash, reason } = c.req.valid('json')
      const command = {
        kind: 'decide_approval',
        toolCallId,
        decision,
        ...(argumentsHash === undefined ? {} : { argumentsHash }),
        ...(reason === undefined ? {} : { reason }),
      } as const
      const actor = actorOf('approver', by)
      const headers = c.req.valid('header')
      const asked = { agentId: agentOfCall(toolCallId), command, actor, headers, drive: 'wake' } as const
      return c.json(await record(s, keys, asked), 200)
    })
    .openapi(resolve, async (c) => {
      const { toolCallId } = c.req.valid('param')
      const { by, decision, result, reason } = c.req.valid('json')
      const command = {
        kind: 'resolve_doubt',
        toolCallId,
        decision,
        ...(result === undefined ? {} : { result }),
        ...(reason === undefined ? {} : { reason }),
      } as const
      const actor = actorOf('approver', by)
      const headers = c.req.valid('header')
      const asked = { agentId: agentOfCall(toolCallId), command, actor, headers, drive: 'wake' } as const
      return c.json(await record(s, keys, asked), 200)
    })
}
