import { createRoute, z } from '@hono/zod-openapi'
import type { UserCommand } from '../../../domain/agent/decide/commands.ts'
import { agentOfCall } from '../../../domain/agent/runtime/history/results.ts'
import { current } from '../../http/lag-headers.ts'
import { body, json, newApp, refusals } from '../../http/new-app.ts'
import { CommandHeaders, optionsOf } from '../headers.ts'
import { given } from '../omit-undefined.ts'
import { notFound } from '../problem.ts'
import { record } from '../runs/record-command.ts'
import { actorOf } from '../runs/request-options.ts'
import { mustBeRun } from '../runs/run-of-agent.ts'
import { Id, PageQuery, Recorded } from '../schemas.ts'
import type { Services } from '../services.ts'
import { approvalDetail, doubtQuestion } from './question.ts'
import {
  ApprovalDetail,
  ApprovalList,
  DecisionBody,
  DoubtBody,
  DoubtDetail,
  DoubtList,
  QuestionList,
} from './schemas.ts'

const CallId = z.object({ toolCallId: Id })

const list = createRoute({
  method: 'get',
  path: '/v1/approvals',
  operationId: 'listApprovals',
  summary: 'Approvals that wait, or those in another state, in the order in which they were asked for',
  request: {
    query: PageQuery.extend({
      run: Id.optional(),
      state: z.enum(['pending', 'approved', 'rejected', 'expired', 'all']).default('pending'),
    }),
  },
  responses: { 200: json(ApprovalList, 'A page of approvals'), ...refusals },
})

const show = createRoute({
  method: 'get',
  path: '/v1/approvals/{toolCallId}',
  operationId: 'getApproval',
  summary: 'An approval with what it is about: a diff, a command, or arguments',
  request: { params: CallId },
  responses: { 200: json(ApprovalDetail, 'The approval'), ...refusals },
})

const decide = createRoute({
  method: 'post',
  path: '/v1/approvals/{toolCallId}',
  operationId: 'decideApproval',
  summary: 'Approve or reject a call',
  request: { params: CallId, headers: CommandHeaders, body: body(DecisionBody) },
  responses: { 200: json(Recorded, 'Recorded'), ...refusals },
})

const doubts = createRoute({
  method: 'get',
  path: '/v1/doubts',
  operationId: 'listDoubts',
  summary: 'Calls whose outcome is unknown',
  request: { query: z.strictObject({ run: Id.optional() }) },
  responses: { 200: json(DoubtList, 'Doubts'), ...refusals },
})

const questions = createRoute({
  method: 'get',
  path: '/v1/questions',
  operationId: 'listQuestions',
  summary: 'Questions of agents that wait for an answer, which is input to their run',
  request: { query: z.strictObject({ run: Id.optional() }) },
  responses: { 200: json(QuestionList, 'Questions'), ...refusals },
})

const doubt = createRoute({
  method: 'get',
  path: '/v1/doubts/{toolCallId}',
  operationId: 'getDoubt',
  summary: 'A call whose outcome is unknown',
  request: { params: CallId },
  responses: { 200: json(DoubtDetail, 'The doubt'), ...refusals },
})

const resolve = createRoute({
  method: 'post',
  path: '/v1/doubts/{toolCallId}',
  operationId: 'resolveDoubt',
  summary: 'Say what became of a call whose outcome is unknown',
  request: { params: CallId, headers: CommandHeaders, body: body(DoubtBody) },
  responses: { 200: json(Recorded, 'Recorded'), ...refusals },
})

export function approvalRoutes(s: Services) {
  const said = (command: UserCommand & { toolCallId: string }, by: string | undefined, headers: CommandHeaders) => {
    const agentId = agentOfCall(command.toolCallId)
    if (agentId === null) throw notFound('tool call', command.toolCallId, 'an id looks like <agent>.t<turn>.c<index>')
    return record(s, { agentId, command, actor: actorOf('approver', by), options: optionsOf(headers), drive: 'wake' })
  }
  return newApp()
    .openapi(list, async (c) => {
      const { run, state, limit, after } = c.req.valid('query')
      if (run !== undefined) await mustBeRun(s, run)
      await current(c, s)
      const which = { limit, after, runId: run, state: state === 'all' ? undefined : state }
      const { position, value } = await s.read.approvals(given(which))
      return c.json({ position, ...value }, 200)
    })
    .openapi(show, async (c) => {
      await current(c, s)
      return c.json(await approvalDetail(s, c.req.valid('param').toolCallId), 200)
    })
    .openapi(decide, async (c) => {
      const { by, ...decided } = c.req.valid('json')
      const command = { kind: 'decide_approval', ...c.req.valid('param'), ...given(decided) } as const
      return c.json(await said(command, by, c.req.valid('header')), 200)
    })
    .openapi(doubts, async (c) => {
      const { run } = c.req.valid('query')
      if (run !== undefined) await mustBeRun(s, run)
      await current(c, s)
      const { position, value } = await s.read.doubts(run === undefined ? {} : { runId: run })
      return c.json({ position, doubts: value }, 200)
    })
    .openapi(doubt, async (c) => {
      await current(c, s)
      return c.json(await doubtQuestion(s, c.req.valid('param').toolCallId), 200)
    })
    .openapi(questions, async (c) => {
      const { run } = c.req.valid('query')
      if (run !== undefined) await mustBeRun(s, run)
      await current(c, s)
      const { position, value } = await s.read.questions(run === undefined ? {} : { runId: run })
      return c.json({ position, questions: value }, 200)
    })
    .openapi(resolve, async (c) => {
      const { by, ...resolved } = c.req.valid('json')
      const command = { kind: 'resolve_doubt', ...c.req.valid('param'), ...given(resolved) } as const
      return c.json(await said(command, by, c.req.valid('header')), 200)
    })
}
