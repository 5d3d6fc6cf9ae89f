import { z } from 'zod'
import { StartHeaders, TraceHeaders } from '../headers.ts'
import { omitUndefined } from '../omit-undefined.ts'
import { operation, WithStatus } from '../operation.ts'
import { PageQuery } from '../schemas.ts'
import { createDocument } from './create-document.ts'
import { documentDiff, documentHistory, eraseEnvelope, verifyDocument } from './history.ts'
import { listDocuments } from './list-documents.ts'
import * as schema from './schemas.ts'

const params = z.object({ id: schema.DocumentId })

/** Documents that people and agents edit together. */
export const DOCUMENT_OPERATIONS = [
  operation({
    name: 'createDocument',
    http: 'POST /v1/documents',
    right: 'documents.write',
    summary: 'Make a document: empty, or from Markdown or HTML',
    input: { headers: StartHeaders, body: schema.CreateDocument },
    output: schema.DocumentCreated,
    answers: { 201: 'Made', 200: 'Made before, by the same key' },
    revision: ({ revision }) => revision,
    run: async (s, { body }, { options }) => {
      const { made, created } = await createDocument(s, body, options)
      return new WithStatus(made ? 201 : 200, created)
    },
  }),
  operation({
    name: 'listDocuments',
    http: 'GET /v1/documents',
    right: 'documents.read',
    summary: 'Documents, in the order of their creation',
    input: { query: PageQuery },
    output: schema.DocumentList,
    answers: { 200: 'A page of documents' },
    awaitsTables: true,
    run: (s, { query }) => listDocuments(s, omitUndefined(query)),
  }),
  operation({
    name: 'listDocumentHistory',
    http: 'GET /v1/documents/{id}/history',
    right: 'documents.read',
    summary: 'Requests with their answers, and updates of people, in the order of the stream',
    input: { params, query: schema.HistoryQuery },
    output: schema.DocumentHistoryPage,
    answers: { 200: 'A page; `after` is a revision' },
    run: (s, { params, query }) => documentHistory(s, params.id, query),
  }),
  operation({
    name: 'compareDocumentRevisions',
    http: 'GET /v1/documents/{id}/diff',
    right: 'documents.read',
    summary: 'The blocks that differ between two revisions',
    input: { params, query: schema.DiffQuery },
    output: schema.DocumentDiff,
    answers: { 200: 'The difference' },
    run: (s, { params, query: { a, b } }) => documentDiff(s, params.id, a, b),
  }),
  operation({
    name: 'blameDocument',
    http: 'GET /v1/documents/{id}/blame',
    right: 'documents.read',
    summary: 'Which person or envelope, run and call wrote each part of each span',
    input: { params, query: schema.BlameQuery },
    output: schema.DocumentBlame,
    answers: { 200: 'Spans and the updates that wrote them' },
    run: (s, { params, query: { revision = Number.MAX_SAFE_INTEGER } }) =>
      s.documents.history.blame(params.id, revision),
  }),
  operation({
    name: 'eraseEnvelope',
    http: 'POST /v1/documents/{id}/erase',
    right: 'documents.erase',
    summary: 'Empty a request for ever; the proof then says "erased", and the words that it wrote stay in the document',
    input: { params, headers: TraceHeaders, body: schema.EraseEnvelope },
    output: schema.EnvelopeErased,
    answers: { 200: 'Erased' },
    run: (s, { params, body }, { options }) => eraseEnvelope(s, params.id, body, options),
  }),
  operation({
    name: 'verifyDocument',
    http: 'GET /v1/documents/{id}/verify',
    right: 'log.verify',
    summary:
      'Check the chain, the bodies and the digests of a document, and replay its updates to the recorded frontier',
    input: { params },
    output: schema.VerifiedDocument,
    answers: { 200: 'The proof, or its problems' },
    run: async (s, { params: { id } }) => ({ documentId: id, ...(await verifyDocument(s, id)) }),
  }),
] as const
