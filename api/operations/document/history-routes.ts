import { createRoute, z } from '@hono/zod-openapi'
import { body, json, newApp, refusals } from '../../http/new-app.ts'
import { optionsOf, StartHeaders } from '../headers.ts'
import { mustWrite } from '../runs/record-command.ts'
import type { Services } from '../services.ts'
import { personOf } from './create-document.ts'
import { documentDiff, verifyDocument } from './history.ts'
import * as schema from './schemas.ts'

const params = z.object({ id: schema.DocumentId })

const history = createRoute({
  method: 'get',
  path: '/v1/documents/{id}/history',
  operationId: 'listDocumentHistory',
  summary: 'Requests with their answers, and updates of people, in the order of the stream',
  request: { params, query: schema.HistoryQuery },
  responses: { 200: json(schema.DocumentHistoryPage, 'A page; `after` is a revision'), ...refusals },
})

const diff = createRoute({
  method: 'get',
  path: '/v1/documents/{id}/diff',
  operationId: 'compareDocumentRevisions',
  summary: 'The blocks that differ between two revisions',
  request: { params, query: schema.DiffQuery },
  responses: { 200: json(schema.DocumentDiff, 'The difference'), ...refusals },
})

const blame = createRoute({
  method: 'get',
  path: '/v1/documents/{id}/blame',
  operationId: 'blameDocument',
  summary: 'Which person or envelope, run and call wrote each part of each span',
  request: { params, query: schema.BlameQuery },
  responses: { 200: json(schema.DocumentBlame, 'Spans and the updates that wrote them'), ...refusals },
})

const verify = createRoute({
  method: 'get',
  path: '/v1/documents/{id}/verify',
  operationId: 'verifyDocument',
  summary: 'Check the chain, the bodies and the digests of a document, and replay its updates to the recorded frontier',
  request: { params },
  responses: { 200: json(schema.VerifiedDocument, 'The proof, or its problems'), ...refusals },
})

const erase = createRoute({
  method: 'post',
  path: '/v1/documents/{id}/erase',
  operationId: 'eraseEnvelope',
  summary: 'Empty a request for ever; the proof then says "erased", and the words that it wrote stay in the document',
  request: { params, headers: StartHeaders.omit({ 'idempotency-key': true }), body: body(schema.EraseEnvelope) },
  responses: { 200: json(schema.EnvelopeErased, 'Erased'), ...refusals },
})

export function documentHistoryRoutes(s: Services) {
  return newApp()
    .openapi(history, async (c) => {
      const { after = -1, limit } = c.req.valid('query')
      const entries = await s.documents.history.entries(c.req.valid('param').id, after, limit)
      const next = entries.length < limit ? null : String(entries.at(-1)!.revision)
      return c.json({ entries: entries as schema.DocumentEntry[], next }, 200)
    })
    .openapi(diff, async (c) => {
      const { a, b } = c.req.valid('query')
      return c.json(await documentDiff(s, c.req.valid('param').id, a, b), 200)
    })
    .openapi(blame, async (c) => {
      const { revision = Number.MAX_SAFE_INTEGER } = c.req.valid('query')
      return c.json((await s.documents.history.blame(c.req.valid('param').id, revision)) as never, 200)
    })
    .openapi(erase, async (c) => {
      mustWrite(s)
      const { by, ...what } = c.req.valid('json')
      const caller = personOf(by, optionsOf(c.req.valid('header')))
      return c.json(await s.documents.erase(c.req.valid('param').id, what, caller), 200)
    })
    .openapi(verify, async (c) => {
      const documentId = c.req.valid('param').id
      return c.json({ documentId, ...(await verifyDocument(s, documentId)) } as never, 200)
    })
}
