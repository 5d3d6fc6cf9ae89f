import { createRoute, z } from '@hono/zod-openapi'
import { exportStreams } from '../operations/events/export.ts'
import { notFound } from '../operations/problem.ts'
import type { Services } from '../operations/services.ts'
import { StreamParam } from '../operations/streams/schemas.ts'
import { newApp, refusals } from './new-app.ts'
import { streamResponse } from './stream-response.ts'

const route = createRoute({
  method: 'get',
  path: '/v1/streams/{stream}/export',
  operationId: 'exportStream',
  'x-keepup-right': 'log.verify',
  summary: 'The sealed events of a stream of any kind as NDJSON, to be verified without this log',
  request: { params: StreamParam },
  responses: {
    200: { description: 'Sealed events', content: { 'application/x-ndjson': { schema: z.string() } } },
    ...refusals,
  },
})

export const streamExport = (s: Services) =>
  newApp().openapi(route, async (c) => {
    const { stream } = c.req.valid('param')
    if ((await s.log.head(stream)) === null) throw notFound('stream', stream, 'GET /v1/streams lists them')
    // The route's types take NDJSON for one JSON value.
    return streamResponse(exportStreams(s.log, s.blobs, stream, [stream]), { format: 'ndjson' }) as never
  })
