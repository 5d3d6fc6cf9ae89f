import { createRoute, z } from '@hono/zod-openapi'
import { exportRun, exportStreams } from '../operations/events/export.ts'
import { notFound } from '../operations/problem.ts'
import { agentsOf } from '../operations/runs/agents-of.ts'
import { OneAgent } from '../operations/runs/schemas.ts'
import type { Services } from '../operations/services.ts'
import { exportStore } from '../operations/store/context-stores.ts'
import { StoreName } from '../operations/store/schemas.ts'
import { StreamParam } from '../operations/streams/schemas.ts'
import { newApp, RunId, refusals, written } from './new-app.ts'
import { streamResponse } from './stream-response.ts'

const ndjson = (description: string) => ({
  200: { description, content: { 'application/x-ndjson': { schema: z.string() } } },
  ...refusals,
})

const run = createRoute({
  method: 'get',
  path: '/v1/runs/{id}/export',
  operationId: 'exportRun',
  'x-keepup-right': 'log.verify',
  summary: 'The sealed events of a run as NDJSON, to be verified elsewhere',
  request: { params: RunId, query: OneAgent },
  responses: ndjson('Sealed events'),
})

const store = createRoute({
  method: 'get',
  path: '/v1/context-stores/{store}/export',
  operationId: 'exportContextStore',
  'x-keepup-right': 'log.verify',
  summary: "A store's sealed events as NDJSON, to be verified without this log",
  request: { params: z.object({ store: StoreName }) },
  responses: ndjson('NDJSON'),
})

const stream = createRoute({
  method: 'get',
  path: '/v1/streams/{stream}/export',
  operationId: 'exportStream',
  'x-keepup-right': 'log.verify',
  summary: 'The sealed events of a stream of any kind as NDJSON, to be verified without this log',
  request: { params: StreamParam },
  responses: ndjson('Sealed events'),
})

/** Exports: streams of lines. The types of a route take NDJSON for one JSON value. */
export function exportRoutes(s: Services) {
  return newApp()
    .openapi(run, async (c) => {
      const { id } = c.req.valid('param')
      const lines = exportRun(s.log, s.blobs, id, await agentsOf(s, id, c.req.valid('query').agent))
      return written(streamResponse(lines, { format: 'ndjson' }))
    })
    .openapi(stream, async (c) => {
      const { stream: name } = c.req.valid('param')
      if ((await s.log.head(name)) === null) throw notFound('stream', name, 'GET /v1/streams lists them')
      return written(streamResponse(exportStreams(s.log, s.blobs, name, [name]), { format: 'ndjson' }))
    })
    .openapi(store, async (c) => {
      const lines = await exportStore(s, c.req.valid('param').store)
      return written(streamResponse(lines, { format: 'ndjson' }))
    })
}
