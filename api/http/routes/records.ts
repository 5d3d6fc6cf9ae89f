import { createRoute, z } from '@hono/zod-openapi'
import { notFound } from '../../runs/commands.ts'
import type { Services } from '../../services.ts'
import { current } from '../current.ts'
import { json, newApp, RunId, refusals } from '../new-app.ts'
import { ArtifactList, CheckpointDetail, CheckpointList } from '../schemas/approvals.ts'
import { Digits, Id, PlacedPage } from '../schemas/common.ts'

const checkpoints = createRoute({
  method: 'get',
  path: '/v1/agents/{id}/checkpoints',
  summary: "An agent's checkpoints, in order of their steps",
  request: { params: RunId, query: PlacedPage },
  responses: { 200: json(CheckpointList, 'A page of checkpoints'), ...refusals },
})

const checkpoint = createRoute({
  method: 'get',
  path: '/v1/agents/{id}/checkpoints/{step}',
  summary: 'A whole checkpoint',
  request: { params: z.object({ id: Id, step: Digits.pipe(z.int().positive()) }) },
  responses: { 200: json(CheckpointDetail, 'The checkpoint'), ...refusals },
})

const artifacts = createRoute({
  method: 'get',
  path: '/v1/artifacts',
  summary: 'Artifacts, in the order in which they were registered',
  request: { query: PlacedPage.extend({ run: Id.optional() }) },
  responses: { 200: json(ArtifactList, 'A page of artifacts'), ...refusals },
})

/** Checkpoints and artifacts. */
export function recordRoutes(s: Services) {
  return newApp()
    .openapi(checkpoints, async (c) => {
      const { limit, after } = c.req.valid('query')
      await current(c, s)
      const page = { limit, ...(after === undefined ? {} : { after }) }
      const { position, value } = await s.read.checkpoints(c.req.valid('param').id, page)
      return c.json({ position, ...value }, 200)
    })
    .openapi(checkpoint, async (c) => {
      const { id, step } = c.req.valid('param')
      await current(c, s)
      const { position, value } = await s.read.checkpoint(id, step)
      if (value === null) throw notFound('checkpoint')
      return c.json({ position, checkpoint: value as unknown }, 200)
    })
    .openapi(artifacts, async (c) => {
      const { limit, after, run } = c.req.valid('query')
      await current(c, s)
      const page = { limit, ...(after === undefined ? {} : { after }), ...(run === undefined ? {} : { runId: run }) }
      const { position, value } = await s.read.artifacts(page)
      return c.json({ position, ...value }, 200)
    })
}
