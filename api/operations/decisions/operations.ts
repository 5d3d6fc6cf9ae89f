import { z } from 'zod'
import { omitUndefined } from '../omit-undefined.ts'
import { operation } from '../operation.ts'
import { mustBeRun } from '../runs/run-of-agent.ts'
import { Id, PageQuery } from '../schemas.ts'
import { CallDecisionList } from './schemas.ts'

/** How the calls of a run were decided. */
export const DECISION_OPERATIONS = [
  operation({
    name: 'listDecisions',
    http: 'GET /v1/runs/{id}/decisions',
    right: 'bodies.read',
    summary:
      'Who or what allowed or refused each call of a run: a person, a standing approval, a permission or the policy',
    input: { params: z.object({ id: Id }), query: PageQuery.extend({ call: Id.optional() }) },
    output: CallDecisionList,
    answers: { 200: 'A page of decisions' },
    awaitsTables: true,
    run: async (s, { params: { id }, query: { call, ...page } }) => {
      await mustBeRun(s, id)
      const { position, value } = await s.read.decisions({ runId: id, ...omitUndefined({ ...page, toolCallId: call }) })
      return { position, ...value }
    },
  }),
] as const
