import { createRoute, z } from '@hono/zod-openapi'
import { current } from '../../http/lag-headers.ts'
import { json, newApp, RunId, refusals } from '../../http/new-app.ts'
import { ArtifactList } from '../approvals/schemas.ts'
import { notFound } from '../problem.ts'
import { mustBeRun, mustGovern, runOfAgent } from '../runs/run-of-agent.ts'
import { Digits, Id, PageQuery } from '../schemas.ts'
import type { Services } from '../services.ts'
import { CheckpointDetail, CheckpointList } from './checkpoint-schemas.ts'

/** Each whole checkpoint holds all messages before it. */
const MAX_WHOLE = 50

const checkpoints = createRoute({
  method: 'get',
  path: '/v1/agents/{id}/checkpoints',
  operationId: 'listCheckpoints',
  summary: "An agent's checkpoints, in order of their steps",
  request: {
    params: RunId,
    query: PageQuery.extend({
      include: z.literal('state').optional().openapi({ description: 'Each entry is the whole checkpoint' }),
    }).refine((q) => q.include === undefined || q.limit <= MAX_WHOLE, {
      error: `with include=state a page has at most ${MAX_WHOLE} checkpoints`,
      path: ['limit'],
    }),
  },
  responses: { 200: json(CheckpointList, 'A page of checkpoints'), ...refusals },
})

const checkpoint = createRoute({
  method: 'get',
  path: '/v1/agents/{id}/checkpoints/{step}',
  operationId: 'getCheckpoint',
  summary: 'A whole checkpoint',
  request: { params: z.object({ id: Id, step: Digits.pipe(z.int().positive()) }) },
  responses: { 200: json(CheckpointDetail, 'The checkpoint'), ...refusals },
})

const artifacts = createRoute({
  method: 'get',
  path: '/v1/artifacts',
  operationId: 'listArtifacts',
  summary: 'Artifacts, in the order in which they were registered',
  request: { query: PageQuery.extend({ run: Id.optional() }) },
  responses: { 200: json(ArtifactList, 'A page of artifacts'), ...refusals },
})

/** Checkpoints and artifacts. */
export function recordRoutes(s: Services) {
  return newApp()
    .openapi(checkpoints, async (c) => {
      const { limit, after, include } = c.req.valid('query')
      const { id } = c.req.valid('param')
      await runOfAgent(s, id)
      await mustGovern(s, id, 'a checkpoint')
      await current(c, s)
      const page = { limit, whole: include === 'state', ...(after === undefined ? {} : { after }) }
      const { position, value } = await s.read.checkpoints(id, page)
      return c.json({ position, ...value }, 200)
    })
    .openapi(checkpoint, async (c) => {
      const { id, step } = c.req.valid('param')
      await runOfAgent(s, id)
      await mustGovern(s, id, 'a checkpoint')
      await current(c, s)
      const { position, value } = await s.read.checkpoint(id, step)
      if (value === null) throw notFound('checkpoint', `${id}.s${step}`)
      return c.json({ position, checkpoint: value }, 200)
    })
    .openapi(artifacts, async (c) => {
      const { limit, after, run } = c.req.valid('query')
      if (run !== undefined) await mustBeRun(s, run)
      await current(c, s)
      const page = { limit, ...(after === undefined ? {} : { after }), ...(run === undefined ? {} : { runId: run }) }
      const { position, value } = await s.read.artifacts(page)
      return c.json({ position, ...value }, 200)
    })
}
