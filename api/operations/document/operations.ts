import { z } from 'zod'
import { StartHeaders, TraceHeaders } from '../headers.ts'
import { omitUndefined } from '../omit-undefined.ts'
import { operation, WithStatus } from '../operation.ts'
import { PageQuery } from '../schemas.ts'
import { commentDocument, discussed, documentComments, suggestChange } from './comments.ts'
import { createDocument } from './create-document.ts'
import { documentDiff, documentHistory, eraseEnvelope, verifyDocument } from './history.ts'
import { listDocuments } from './list-documents.ts'
import * as schema from './schemas.ts'

const params = z.object({ id: schema.DocumentId })
const commentParams = params.extend({ comment: schema.ThreadId })
const suggestionParams = params.extend({ suggestion: schema.ThreadId })

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
    summary: 'Requests with their answers, updates of people, comments and suggestions, in the order of the stream',
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
    name: 'listDocumentComments',
    http: 'GET /v1/documents/{id}/comments',
    right: 'documents.read',
    summary: 'Comments and suggestions, each with the text that it is about as it stands now',
    input: { params, query: schema.CommentsQuery },
    output: schema.DocumentComments,
    answers: { 200: 'A page of comments and suggestions in the order in which they were added' },
    revision: ({ revision }) => revision,
    mcp: {
      description: 'Lists the comments and suggestions of a document that people and agents edit together.',
      names: { id: 'documentId' },
    },
    run: (s, { params: { id }, query }) => documentComments(s, id, query),
  }),
  operation({
    name: 'commentDocument',
    http: 'POST /v1/documents/{id}/comments',
    right: 'documents.write',
    summary: 'Comment on a text of a document',
    input: { params, headers: StartHeaders, body: schema.CommentDocument },
    output: schema.Discussed,
    answers: { 200: 'Recorded' },
    mcp: { names: { id: 'documentId' } },
    run: (s, { params: { id }, body }, { options }) => commentDocument(s, id, body, options),
  }),
  operation({
    name: 'replyToComment',
    http: 'POST /v1/documents/{id}/comments/{comment}/replies',
    right: 'documents.write',
    summary: 'Reply to an open comment or suggestion',
    input: { params: commentParams, headers: StartHeaders, body: schema.ReplyBody },
    output: schema.Discussed,
    answers: { 200: 'Recorded' },
    mcp: { names: { id: 'documentId', comment: 'commentId' } },
    run: (s, { params: { id, comment }, body: { text, by } }, { options }) =>
      discussed(s, id, by, options, (caller) => s.documents.discussions.reply(id, comment, text, caller, options.key)),
  }),
  operation({
    name: 'resolveComment',
    http: 'POST /v1/documents/{id}/comments/{comment}/resolve',
    right: 'documents.write',
    summary: 'Resolve a comment',
    input: { params: commentParams, headers: TraceHeaders, body: schema.SettleBody },
    output: schema.Discussed,
    answers: { 200: 'Resolved' },
    mcp: { names: { id: 'documentId', comment: 'commentId' } },
    run: (s, { params: { id, comment }, body: { by } }, { options }) =>
      discussed(s, id, by, options, (caller) => s.documents.discussions.resolve(id, comment, caller)),
  }),
  operation({
    name: 'suggestChange',
    http: 'POST /v1/documents/{id}/suggestions',
    right: 'documents.write',
    summary: 'Suggest another text; nothing changes until a person accepts it',
    input: { params, headers: StartHeaders, body: schema.SuggestChange },
    output: schema.Discussed,
    answers: { 200: 'Recorded' },
    mcp: {
      description: 'Suggests another text for a part of a document. Nothing changes until a person accepts it.',
      names: { id: 'documentId' },
    },
    run: (s, { params: { id }, body }, { options }) => suggestChange(s, id, body, options),
  }),
  operation({
    name: 'acceptSuggestion',
    http: 'POST /v1/documents/{id}/suggestions/{suggestion}/accept',
    right: 'documents.write',
    summary: 'Make a suggested change as an edit of the caller; refused if the text has changed since',
    input: { params: suggestionParams, headers: TraceHeaders, body: schema.SettleBody },
    output: schema.Discussed,
    answers: { 200: 'Applied' },
    run: (s, { params: { id, suggestion }, body: { by } }, { options }) =>
      discussed(s, id, by, options, (caller) => s.documents.discussions.accept(id, suggestion, caller)),
  }),
  operation({
    name: 'refuseSuggestion',
    http: 'POST /v1/documents/{id}/suggestions/{suggestion}/refuse',
    right: 'documents.write',
    summary: 'Refuse a suggestion with a reason; the text stays',
    input: { params: suggestionParams, headers: TraceHeaders, body: schema.RefuseSuggestion },
    output: schema.Discussed,
    answers: { 200: 'Refused' },
    run: (s, { params: { id, suggestion }, body: { reason, by } }, { options }) =>
      discussed(s, id, by, options, (caller) => s.documents.discussions.refuse(id, suggestion, reason, caller)),
  }),
  operation({
    name: 'eraseEnvelope',
    http: 'POST /v1/documents/{id}/erase',
    right: 'documents.erase',
    summary:
      'Empty a request, comment, suggestion, reply or refusal for ever; the proof then says "erased", and the words that it wrote stay in the document',
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
