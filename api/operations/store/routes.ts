import { createRoute, z } from '@hono/zod-openapi'
import { newApp, refusals, written } from '../../http/new-app.ts'
import { streamResponse } from '../../http/stream-response.ts'
import type { Services } from '../services.ts'
import { exportStore } from './context-stores.ts'
import * as schema from './schemas.ts'

const exported = createRoute({
  method: 'get',
  path: '/v1/context-stores/{store}/export',
  operationId: 'exportContextStore',
  'x-keepup-right': 'log.verify',
  summary: "A store's sealed events as NDJSON, to be verified without this log",
  request: { params: z.object({ store: schema.StoreName }) },
  responses: {
    200: { description: 'NDJSON', content: { 'application/x-ndjson': { schema: z.string() } } },
    ...refusals,
  },
})

/** The export of a store of context variables: a stream of lines. */
export const contextStoreRoutes = (s: Services) =>
  newApp().openapi(exported, async (c) => {
    const lines = await exportStore(s, c.req.valid('param').store)
    // The route's types take NDJSON for one JSON value.
    return written(streamResponse(lines, { format: 'ndjson' }))
  })
