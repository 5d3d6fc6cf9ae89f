import { createRoute, z } from '@hono/zod-openapi'
import { current } from '../../http/lag-headers.ts'
import { body, json, newApp, refusals } from '../../http/new-app.ts'
import { streamResponse } from '../../http/stream-response.ts'
import { optionsOf, StartHeaders } from '../headers.ts'
import type { Services } from '../services.ts'
import { eraseVariables, exportStore, getVariable, listStores, showStore, verifyStore } from './context-stores.ts'
import * as schema from './schemas.ts'

const params = z.object({ store: schema.StoreName })
const headers = StartHeaders.omit({ 'idempotency-key': true })

const list = createRoute({
  method: 'get',
  path: '/v1/context-stores',
  operationId: 'listContextStores',
  summary: 'Stores of context variables, in the order of their names',
  request: { query: schema.StoresQuery },
  responses: { 200: json(schema.StoreList, 'A page of stores'), ...refusals },
})

const show = createRoute({
  method: 'get',
  path: '/v1/context-stores/{store}',
  operationId: 'getContextStore',
  summary: 'A store and its variables, in the order of their keys, without their values',
  request: { params, query: schema.VariablesQuery },
  responses: { 200: json(schema.StoreShown, 'The store, with a page of variables'), ...refusals },
})

const variable = createRoute({
  method: 'get',
  path: '/v1/context-stores/{store}/variable',
  operationId: 'getContextVariable',
  summary: 'A variable with its value',
  request: { params, query: schema.VariableQuery },
  responses: { 200: json(schema.VariableShown, 'The variable; the ETag is the revision of its value'), ...refusals },
})

const erase = createRoute({
  method: 'post',
  path: '/v1/context-stores/{store}/erase',
  operationId: 'eraseContextVariables',
  summary: 'Empty the values of a variable, or of all, for ever; embedded only',
  request: { params, headers, body: body(schema.EraseVariables) },
  responses: { 200: json(schema.VariablesErased, 'Erased, or what would be'), ...refusals },
})

const verify = createRoute({
  method: 'get',
  path: '/v1/context-stores/{store}/verify',
  operationId: 'verifyContextStore',
  summary: 'Check the chain, the bodies and the digests of a store',
  request: { params },
  responses: { 200: json(schema.VerifiedStore, 'The proof, or its problems'), ...refusals },
})

const exported = createRoute({
  method: 'get',
  path: '/v1/context-stores/{store}/export',
  operationId: 'exportContextStore',
  summary: "A store's sealed events as NDJSON, to be verified without this log",
  request: { params },
  responses: {
    200: { description: 'NDJSON', content: { 'application/x-ndjson': { schema: z.string() } } },
    ...refusals,
  },
})

/** The stores of context variables in the log (seed 004). */
export function contextStoreRoutes(s: Services) {
  return newApp()
    .openapi(list, async (c) => {
      await current(c, s)
      return c.json(await listStores(s, c.req.valid('query')), 200)
    })
    .openapi(show, async (c) => {
      await current(c, s)
      return c.json(await showStore(s, c.req.valid('param').store, c.req.valid('query')), 200)
    })
    .openapi(variable, async (c) => {
      await current(c, s)
      const found = await getVariable(s, c.req.valid('param').store, c.req.valid('query').key)
      return c.json(found, 200, { etag: `"${found.variable.revision}"` })
    })
    .openapi(erase, async (c) => {
      const options = optionsOf(c.req.valid('header'))
      return c.json(await eraseVariables(s, c.req.valid('param').store, c.req.valid('json'), options), 200)
    })
    .openapi(verify, async (c) => {
      const { store } = c.req.valid('param')
      return c.json({ store, ...(await verifyStore(s, store)) } as never, 200)
    })
    .openapi(exported, async (c) => {
      const lines = await exportStore(s, c.req.valid('param').store)
      // The route's types take NDJSON for one JSON value.
      return streamResponse(lines, { format: 'ndjson' }) as never
    })
}
