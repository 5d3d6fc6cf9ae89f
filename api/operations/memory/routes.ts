import { createRoute, z } from '@hono/zod-openapi'
import { optionsOf, StartHeaders } from '../../http/headers.ts'
import { current } from '../../http/lag-headers.ts'
import { body, json, newApp, refusals } from '../../http/new-app.ts'
import type { Services } from '../services.ts'
import { correctMemory, forgetMemory, listMemories, memoryHistory, verifyMemory } from './memories.ts'
import * as schema from './schemas.ts'

const params = z.object({ id: schema.MemoryId })
const headers = StartHeaders.omit({ 'idempotency-key': true })

const list = createRoute({
  method: 'get',
  path: '/v1/memories',
  operationId: 'listMemories',
  summary: 'Facts that agents have saved, the latest first; with "q" those that a search finds, the best first',
  request: { query: schema.MemoryQuery },
  responses: { 200: json(schema.MemoryList, 'A page of memories'), ...refusals },
})

const show = createRoute({
  method: 'get',
  path: '/v1/memories/{id}',
  operationId: 'getMemory',
  summary: 'A fact with all that was done to it',
  request: { params },
  responses: { 200: json(schema.MemoryHistory, 'The fact; the ETag is its revision'), ...refusals },
})

const correct = createRoute({
  method: 'post',
  path: '/v1/memories/{id}/correct',
  operationId: 'correctMemory',
  summary: 'Give a fact another text; the one before stays in the log',
  request: { params, headers, body: body(schema.CorrectMemory) },
  responses: { 200: json(schema.MemoryChanged, 'Corrected'), ...refusals },
})

const forget = createRoute({
  method: 'post',
  path: '/v1/memories/{id}/forget',
  operationId: 'forgetMemory',
  summary: 'Forget a fact: no agent finds it any more; with "erase" its words are gone for ever',
  request: { params, headers, body: body(schema.ForgetMemory) },
  responses: { 200: json(schema.MemoryChanged, 'Forgotten'), ...refusals },
})

const verify = createRoute({
  method: 'get',
  path: '/v1/memories/{id}/verify',
  operationId: 'verifyMemory',
  summary: 'Check the chain, the bodies and the digests of a fact',
  request: { params },
  responses: { 200: json(schema.VerifiedMemory, 'The proof, or its problems'), ...refusals },
})

export function memoryRoutes(s: Services) {
  return newApp()
    .openapi(list, async (c) => {
      await current(c, s)
      return c.json(await listMemories(s, c.req.valid('query')), 200)
    })
    .openapi(show, async (c) => {
      await current(c, s)
      const found = await memoryHistory(s, c.req.valid('param').id)
      return c.json(found, 200, { etag: `"${found.memory.revision}"` })
    })
    .openapi(correct, async (c) => {
      const options = optionsOf(c.req.valid('header'))
      return c.json(await correctMemory(s, c.req.valid('param').id, c.req.valid('json'), options), 200)
    })
    .openapi(forget, async (c) => {
      const options = optionsOf(c.req.valid('header'))
      return c.json(await forgetMemory(s, c.req.valid('param').id, c.req.valid('json'), options), 200)
    })
    .openapi(verify, async (c) => {
      const { id } = c.req.valid('param')
      return c.json({ id, ...(await verifyMemory(s, id)) } as never, 200)
    })
}
