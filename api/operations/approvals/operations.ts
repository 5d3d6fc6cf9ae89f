import { z } from 'zod'
import { CommandHeaders } from '../headers.ts'
import { omitUndefined } from '../omit-undefined.ts'
import { operation } from '../operation.ts'
import { mustBeRun } from '../runs/run-of-agent.ts'
import { Id, PageQuery, Recorded } from '../schemas.ts'
import { recordApproval } from './decide.ts'
import { approvalDetail, doubtQuestion } from './question-detail.ts'
import * as schema from './schemas.ts'

const params = z.object({ toolCallId: Id })
const query = z.strictObject({ run: Id.optional() })

/** What people are asked, and how they answer. */
export const APPROVAL_OPERATIONS = [
  operation({
    name: 'listApprovals',
    http: 'GET /v1/approvals',
    right: 'bodies.read',
    summary: 'Approvals that wait, or those in another state, in the order in which they were asked for',
    input: {
      query: PageQuery.extend({
        run: Id.optional(),
        state: z.enum(['pending', 'approved', 'rejected', 'expired', 'all']).default('pending'),
      }),
    },
    output: schema.ApprovalList,
    answers: { 200: 'A page of approvals' },
    awaitsTables: true,
    mcp: { names: { run: 'runId' } },
    run: async (s, { query: { run, state, ...page } }) => {
      if (run !== undefined) await mustBeRun(s, run)
      const which = { ...page, runId: run, state: state === 'all' ? undefined : state }
      const { position, value } = await s.read.approvals(omitUndefined(which))
      return { position, ...value }
    },
  }),
  operation({
    name: 'getApproval',
    http: 'GET /v1/approvals/{toolCallId}',
    right: 'bodies.read',
    summary: 'An approval with what it is about: a diff, a command, or arguments',
    input: { params },
    output: schema.ApprovalDetail,
    answers: { 200: 'The approval' },
    awaitsTables: true,
    mcp: { short: 'whole' },
    run: (s, { params }) => approvalDetail(s, params.toolCallId),
  }),
  operation({
    name: 'decideApproval',
    http: 'POST /v1/approvals/{toolCallId}',
    right: 'runs.decide',
    summary: 'Approve or reject a call',
    input: { params, headers: CommandHeaders, body: schema.DecisionBody },
    output: Recorded,
    answers: { 200: 'Recorded' },
    mcp: {
      description: 'Approves or rejects a call that waits. Decide only what your user has seen and decided.',
      drives: true,
    },
    run: (s, { params, body: { by, ...decided } }, { options }) =>
      recordApproval(s, { kind: 'decide_approval', ...params, ...omitUndefined(decided) }, by, options),
  }),
  operation({
    name: 'listDoubts',
    http: 'GET /v1/doubts',
    right: 'bodies.read',
    summary: 'Calls whose outcome is unknown',
    input: { query },
    output: schema.DoubtList,
    answers: { 200: 'Doubts' },
    awaitsTables: true,
    run: async (s, { query: { run } }) => {
      if (run !== undefined) await mustBeRun(s, run)
      const { position, value } = await s.read.doubts(omitUndefined({ runId: run }))
      return { position, doubts: value }
    },
  }),
  operation({
    name: 'getDoubt',
    http: 'GET /v1/doubts/{toolCallId}',
    right: 'bodies.read',
    summary: 'A call whose outcome is unknown',
    input: { params },
    output: schema.DoubtDetail,
    answers: { 200: 'The doubt' },
    awaitsTables: true,
    run: (s, { params }) => doubtQuestion(s, params.toolCallId),
  }),
  operation({
    name: 'resolveDoubt',
    http: 'POST /v1/doubts/{toolCallId}',
    right: 'runs.decide',
    summary: 'Say what became of a call whose outcome is unknown',
    input: { params, headers: CommandHeaders, body: schema.DoubtBody },
    output: Recorded,
    answers: { 200: 'Recorded' },
    run: (s, { params, body: { by, ...resolved } }, { options }) =>
      recordApproval(s, { kind: 'resolve_doubt', ...params, ...omitUndefined(resolved) }, by, options),
  }),
  operation({
    name: 'listQuestions',
    http: 'GET /v1/questions',
    right: 'bodies.read',
    summary: 'Questions of agents that wait for an answer, which is input to their run',
    input: { query },
    output: schema.QuestionList,
    answers: { 200: 'Questions' },
    awaitsTables: true,
    run: async (s, { query: { run } }) => {
      if (run !== undefined) await mustBeRun(s, run)
      const { position, value } = await s.read.questions(omitUndefined({ runId: run }))
      return { position, questions: value }
    },
  }),
] as const
