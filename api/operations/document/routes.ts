import { createRoute, z } from '@hono/zod-openapi'
import { canonicalText } from '../../../domain/log/canonical.ts'
import { envelopeBody } from '../../http/envelope-body.ts'
import { current } from '../../http/lag-headers.ts'
import { body, json, newApp, refusals, written } from '../../http/new-app.ts'
import { sse, streamResponse } from '../../http/stream-response.ts'
import { optionsOf, StartHeaders } from '../headers.ts'
import { mustWrite } from '../runs/record-command.ts'
import { Digits, PageQuery } from '../schemas.ts'
import type { Services } from '../services.ts'
import { createDocument, personOf } from './create-document.ts'
import { documentAt } from './history.ts'
import * as schema from './schemas.ts'
import { documentUpdates, mustReach } from './updates.ts'
import { asText, documentView } from './view.ts'

/** Bodies of routes under documents may be larger than others, bytes. */
export const MAX_DOCUMENT_BODY = 8 * 1024 * 1024
const UNDER_DOCUMENTS = /^\/v1\/documents(\/|$)/
const RAW = /^\/v1\/documents\/[^/]+\/(envelopes|updates)$/

/** The most bytes that a body may have on a path, where another limit than the configured one holds. */
export const bodyLimitOf = (path: string): number | null => (UNDER_DOCUMENTS.test(path) ? MAX_DOCUMENT_BODY : null)

/** Routes whose bodies the gateway reads itself: it answers, and records, also what is not JSON. */
export const readsItsBody = (path: string): boolean => RAW.test(path)

const params = z.object({ id: schema.DocumentId })
const bytes = z.string().openapi({ format: 'binary' })

const create = createRoute({
  method: 'post',
  path: '/v1/documents',
  operationId: 'createDocument',
  summary: 'Make a document: empty, or from Markdown or HTML',
  request: { headers: StartHeaders, body: body(schema.CreateDocument) },
  responses: {
    201: json(schema.DocumentCreated, 'Made'),
    200: json(schema.DocumentCreated, 'Made before, by the same key'),
    ...refusals,
  },
})

const list = createRoute({
  method: 'get',
  path: '/v1/documents',
  operationId: 'listDocuments',
  summary: 'Documents, in the order of their creation',
  request: { query: PageQuery },
  responses: { 200: json(schema.DocumentList, 'A page of documents'), ...refusals },
})

const read = createRoute({
  method: 'get',
  path: '/v1/documents/{id}',
  operationId: 'getDocument',
  summary: 'A document as it is, or as it was after an event of its stream or at a time',
  request: { params, query: schema.DocumentQuery },
  responses: {
    200: {
      description: 'The document; the ETag is its revision',
      content: {
        'application/json': { schema: schema.DocumentView },
        'text/markdown': { schema: z.string() },
        'text/html': { schema: z.string() },
        'application/octet-stream': { schema: bytes },
      },
    },
    ...refusals,
  },
})

const envelopes = createRoute({
  method: 'post',
  path: '/v1/documents/{id}/envelopes',
  operationId: 'sendEnvelope',
  summary: 'Edit a document by an AI envelope; the request is recorded with its answer, whatever it is',
  request: { params, query: schema.ByQuery, headers: StartHeaders.omit({ 'idempotency-key': true }) },
  responses: {
    200: json(schema.EnvelopeApplied, 'Applied'),
    400: json(schema.EnvelopeRefused, 'Refused: the request, its payload, or a reused id'),
    404: json(schema.EnvelopeRefused, 'There is no such document'),
    409: json(schema.EnvelopeConflict, 'The frontier or preconditions do not hold'),
    422: json(schema.EnvelopeRefused, 'The document model has no place for it'),
    ...refusals,
  },
})

const imports = createRoute({
  method: 'post',
  path: '/v1/documents/{id}/updates',
  operationId: 'sendUpdate',
  summary: 'Import an update of a Loro replica, at most 1 MiB, as the body',
  request: { params, query: schema.ByQuery, headers: StartHeaders.omit({ 'idempotency-key': true }) },
  responses: { 200: json(schema.UpdateImported, 'Imported'), ...refusals },
})

const updates = createRoute({
  method: 'get',
  path: '/v1/documents/{id}/updates',
  operationId: 'streamUpdates',
  summary: 'The updates of a document, then those to come; nothing is skipped or repeated',
  description:
    'SSE. `Last-Event-ID` (or `after`) is a revision: what comes is after it. Without one: from the first on. One that the ' +
    'document has not reached is refused, as after a restore.',
  request: {
    params,
    headers: z.object({ 'last-event-id': Digits.optional() }),
    query: z.strictObject({ after: Digits.optional().openapi({ type: 'integer' }) }),
  },
  responses: {
    200: { description: 'Updates', content: { 'text/event-stream': { schema: z.string() } } },
    ...refusals,
  },
})

const TEXT_TYPES = { markdown: 'text/markdown; charset=utf-8', html: 'text/html; charset=utf-8' } as const

/** The content of a document must not act where a browser opens the answer. */
const INERT = { 'content-security-policy': "default-src 'none'; sandbox", 'x-content-type-options': 'nosniff' }

export function documentRoutes(s: Services, heartbeatMs: number) {
  return newApp()
    .openapi(create, async (c) => {
      const { made, created } = await createDocument(s, c.req.valid('json'), optionsOf(c.req.valid('header')))
      return c.json(created, made ? 201 : 200, { etag: `"${created.revision}"` })
    })
    .openapi(list, async (c) => {
      const { limit, after } = c.req.valid('query')
      await current(c, s)
      const { position, value } = await s.read.documents({ limit, ...(after === undefined ? {} : { after }) })
      return c.json({ position, documents: [...value.documents], next: value.next }, 200)
    })
    .openapi(read, async (c) => {
      const { id } = c.req.valid('param')
      const { format, revision, time } = c.req.valid('query')
      if (format === 'loro') {
        const { revision, bytes } = await s.documents.snapshot(id)
        const headers = { 'content-type': 'application/octet-stream', etag: `"${revision}"`, ...INERT }
        return written(new Response(bytes as Uint8Array<ArrayBuffer>, { headers }))
      }
      const found = await documentAt(s, id, { revision, time })
      const etag = { etag: `"${found.revision}"` }
      if (format === 'json') return c.json(documentView(found), 200, etag)
      const headers = { 'content-type': TEXT_TYPES[format], ...etag, ...INERT }
      return written(new Response(asText(format, found), { headers }))
    })
    .openapi(envelopes, async (c) => {
      mustWrite(s)
      const sent = envelopeBody(new Uint8Array(await c.req.arrayBuffer()))
      const caller = personOf(c.req.valid('query').by, optionsOf(c.req.valid('header')))
      const { status, body: answer } = await s.documents.envelope(c.req.valid('param').id, sent, caller)
      // A repeated answer is read from the log, where the order of members is canonical.
      const headers = { 'content-type': 'application/json' }
      return written(new Response(canonicalText(answer), { status, headers }))
    })
    .openapi(imports, async (c) => {
      mustWrite(s)
      const update = new Uint8Array(await c.req.arrayBuffer())
      const caller = personOf(c.req.valid('query').by, optionsOf(c.req.valid('header')))
      const done = await s.documents.import(c.req.valid('param').id, update, caller)
      return c.json(done, 200, { etag: `"${done.revision}"` })
    })
    .openapi(updates, async (c) => {
      const { id } = c.req.valid('param')
      const after = c.req.valid('header')['last-event-id'] ?? c.req.valid('query').after ?? -1
      await mustReach(s, id, after)
      const over = new AbortController()
      async function* pieces(): AsyncGenerator<string> {
        yield ': updates\n\n'
        for await (const { revision, at, actor, body } of documentUpdates(s, id, after, over.signal)) {
          const { update, frontier } = body
          const data = { revision, at: new Date(at).toISOString(), by: actor, frontier, update }
          yield sse({ id: String(revision), event: 'update', data })
        }
      }
      return streamResponse(pieces(), {
        format: 'sse',
        heartbeat: { ms: heartbeatMs, text: () => ': still here\n\n', clock: s.clock },
        onClose: () => over.abort(),
      })
    })
}
