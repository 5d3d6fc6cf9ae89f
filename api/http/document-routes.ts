import { createRoute, z } from '@hono/zod-openapi'
import { canonicalText } from '../../domain/log/canonical.ts'
import { personOf } from '../operations/document/create-document.ts'
import { documentAt } from '../operations/document/history.ts'
import { Presence } from '../operations/document/presence.ts'
import * as schema from '../operations/document/schemas.ts'
import { mustReach } from '../operations/document/updates.ts'
import { documentText, documentView } from '../operations/document/view.ts'
import { TraceHeaders } from '../operations/headers.ts'
import { mustWrite } from '../operations/runs/record-command.ts'
import type { Services } from '../operations/services.ts'
import { requestOptions } from './access-guards.ts'
import { envelopeBody } from './envelope-body.ts'
import { json, newApp, refusals, written } from './new-app.ts'

/** Bodies of routes under documents may be larger than others, bytes. */
const MAX_DOCUMENT_BODY = 8 * 1024 * 1024
const UNDER_DOCUMENTS = /^\/v1\/documents(\/|$)/
const RAW = /^\/v1\/documents\/[^/]+\/(envelopes|updates)$/

/** The limit of bodies on a path, bytes. Null: the configured limit holds. */
export const documentBodyLimit = (path: string): number | null =>
  UNDER_DOCUMENTS.test(path) ? MAX_DOCUMENT_BODY : null

/** Routes whose bodies the gateway reads itself, because it also records bodies that are not JSON. */
export const readsItsBody = (path: string): boolean => RAW.test(path)

const params = z.object({ id: schema.DocumentId })
const bytes = z.string().meta({ format: 'binary' })

const read = createRoute({
  method: 'get',
  path: '/v1/documents/{id}',
  operationId: 'getDocument',
  'x-keepup-right': 'documents.read',
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
  'x-keepup-right': 'documents.write',
  summary: 'Edit a document by an AI envelope; the request is recorded with its answer, whatever it is',
  request: { params, query: schema.ByQuery, headers: TraceHeaders },
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
  'x-keepup-right': 'documents.write',
  summary: 'Import an update of a Loro replica, at most 1 MiB, as the body',
  request: { params, query: schema.ByQuery, headers: TraceHeaders },
  responses: { 200: json(schema.UpdateImported, 'Imported'), ...refusals },
})

const TEXT_TYPES = { markdown: 'text/markdown; charset=utf-8', html: 'text/html; charset=utf-8' } as const

/** The content of a document must not act where a browser opens the answer. */
const INERT = { 'content-security-policy': "default-src 'none'; sandbox", 'x-content-type-options': 'nosniff' }

const presence = createRoute({
  method: 'post',
  path: '/v1/documents/{id}/presence',
  operationId: 'sendPresence',
  'x-keepup-right': 'documents.write',
  summary: 'Say where a person edits a document; those who follow its updates get it, and it is not stored',
  description: 'Say it again at least every 30 seconds. People who follow another process do not get it.',
  request: {
    params,
    query: schema.ByQuery,
    body: { required: true, content: { 'application/json': { schema: Presence } } },
  },
  responses: { 204: { description: 'Said' }, ...refusals },
})

/** Documents as text and bytes, and the bodies that the gateway reads itself. */
export function documentRoutes(s: Services) {
  return newApp()
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
      return written(new Response(documentText(format, found), { headers }))
    })
    .openapi(envelopes, async (c) => {
      mustWrite(s)
      const sent = envelopeBody(new Uint8Array(await c.req.arrayBuffer()))
      const caller = personOf(c.req.valid('query').by, requestOptions(c, c.req.valid('header')))
      const { status, body: answer } = await s.documents.envelope(c.req.valid('param').id, sent, caller)
      // A repeated answer is read from the log, where the order of members is canonical.
      const headers = { 'content-type': 'application/json' }
      return written(new Response(canonicalText(answer), { status, headers }))
    })
    .openapi(imports, async (c) => {
      mustWrite(s)
      const update = new Uint8Array(await c.req.arrayBuffer())
      const caller = personOf(c.req.valid('query').by, requestOptions(c, c.req.valid('header')))
      const done = await s.documents.import(c.req.valid('param').id, update, caller)
      return c.json(done, 200, { etag: `"${done.revision}"` })
    })
    .openapi(presence, async (c) => {
      const { id } = c.req.valid('param')
      await mustReach(s, id, -1)
      const { by } = personOf(c.req.valid('query').by, requestOptions(c, {}))
      s.presence.say(id, { ...c.req.valid('json'), by })
      return c.body(null, 204)
    })
}
