import { z } from 'zod'
import { DocumentError } from '../../../domain/document/errors.ts'
import { MAX_TEXT } from '../../../domain/document/runtime/discussions.ts'
import { ENTRY_KINDS } from '../../../domain/document/stream/entry.ts'
import { ErasureCode } from '../../../domain/stream/erasure.ts'
import { By, Digits, Id, Next, PageQuery, Position, PROOF } from '../schemas.ts'

/** A malformed id gets the same answer as an unknown one. */
export const DocumentId = z
  .string()
  .refine((id) => {
    if (/^[0-9a-z]{1,64}$/.test(id)) return true
    throw new DocumentError('DOCUMENT_UNKNOWN', 'there is no such document')
  })
  .meta({ description: 'As the answer to its creation gave it' })

const Title = z.string().trim().min(1).max(200)

export const CreateDocument = z
  .strictObject({
    title: Title,
    format: z.enum(['empty', 'markdown', 'html']).default('empty'),
    content: z.string().optional().meta({ description: 'Markdown or HTML, at most 1 MiB' }),
    by: By.optional(),
  })
  .refine(({ format, content }) => (format === 'empty') === (content === undefined), {
    error: 'give a content with the format "markdown" or "html", and none with "empty"',
  })
  .meta({ id: 'CreateDocument' })
export type CreateDocument = z.infer<typeof CreateDocument>

const Diagnostics = z.array(z.record(z.string(), z.unknown())).meta({ description: 'What was taken out' })

export const DocumentCreated = z
  .strictObject({ documentId: z.string(), revision: z.int(), frontier: z.string(), diagnostics: Diagnostics })
  .meta({ id: 'DocumentCreated' })
export type DocumentCreated = z.infer<typeof DocumentCreated>

const Hash = z.string().meta({ description: 'Context hash, for `if_match_context_hash`' })
const Runs = z.array(z.object({ text: z.string(), marks: z.record(z.string(), z.unknown()) }))

export const DocumentView = z
  .strictObject({
    documentId: z.string(),
    title: z.string(),
    revision: z.int(),
    frontier: z.string().meta({ description: 'For `doc_frontier`' }),
    root: z.string().meta({ description: 'Rolling hash over all updates' }),
    blocks: z.array(
      z.object({
        type: z.string(),
        id: z.string().nullable().meta({ description: 'The span id of the block' }),
        attrs: z.record(z.string(), z.unknown()).optional(),
        text: Runs.optional(),
        rows: z.array(z.array(z.object({ span_id: z.string(), hash: Hash, text: Runs }).loose())).optional(),
        hash: Hash.optional(),
      }),
    ),
  })
  .meta({ id: 'Document' })
export type DocumentView = z.infer<typeof DocumentView>

export const EnvelopeApplied = z
  .strictObject({
    status: z.literal('applied'),
    client_request_id: z.string(),
    applied_frontier: z.string(),
    diagnostics: Diagnostics,
  })
  .meta({ id: 'EnvelopeApplied' })

export const EnvelopeConflict = z
  .strictObject({
    code: z.literal('AI_PRECONDITION_FAILED'),
    phase: z.literal('ai_gateway'),
    retryable: z.literal(true),
    current_frontier: z.string(),
    failed_preconditions: z.array(
      z.strictObject({ span_id: z.string(), reason: z.enum(['hash_mismatch', 'span_missing', 'unverified']) }),
    ),
  })
  .meta({ id: 'EnvelopeConflict' })

export const EnvelopeRefused = z
  .strictObject({
    code: z.string(),
    phase: z.literal('ai_gateway'),
    retryable: z.literal(false),
    message: z.string(),
  })
  .meta({ id: 'EnvelopeRefused' })

export const UpdateImported = z
  .strictObject({
    revision: z.int(),
    frontier: z.string(),
    recorded: z.boolean().meta({ description: 'false: the document had all of the update' }),
  })
  .meta({ id: 'UpdateImported' })

export const ByQuery = z.strictObject({ by: Id.max(200).optional().meta({ description: 'Who asks' }) })

const Time = z.iso.datetime({ offset: true }).meta({ description: 'The document as it was then' })

/** At most one point of the history. Default: the head. */
export const DocumentQuery = z
  .strictObject({
    format: z.enum(['json', 'markdown', 'html', 'loro']).default('json'),
    revision: Digits.optional().meta({ type: 'integer' }),
    time: Time.optional(),
  })
  .refine(({ revision, time }) => revision === undefined || time === undefined, {
    error: 'give only one of revision and time',
  })
  .refine(({ format, revision, time }) => format !== 'loro' || (revision ?? time) === undefined, {
    error: 'a Loro snapshot holds the whole history: leave out revision and time',
  })

const Author = z.object({ kind: z.string(), id: z.string(), claimed: z.boolean().optional() })

export const DocumentEntry = z
  .strictObject({
    revision: z.int(),
    at: z.string(),
    by: Author,
    kind: z.enum(ENTRY_KINDS),
    runId: z.string().optional(),
    toolCallId: z.string().optional(),
    clientRequestId: z.string().optional(),
    retryOf: z.strictObject({ first: z.string(), retry: z.int() }).optional(),
    annotations: z.array(z.string().nullable()).optional(),
    status: z.int().optional(),
    code: z.string().optional(),
    thread: z.string().optional().meta({ description: 'The comment or suggestion that the entry is about' }),
  })
  .meta({ id: 'DocumentEntry', description: 'An entry in the history of a document' })
export type DocumentEntry = z.infer<typeof DocumentEntry>

export const DocumentHistoryPage = z
  .strictObject({ entries: z.array(DocumentEntry), next: Next })
  .meta({ id: 'DocumentHistory' })

const Revision = Digits.meta({ type: 'integer' })

export const HistoryQuery = PageQuery.extend({ after: Revision.optional() })
export const DiffQuery = z.strictObject({ a: Revision, b: Revision })
export const BlameQuery = z.strictObject({ revision: Revision.optional() })

export const DocumentDiff = z
  .strictObject({
    documentId: z.string(),
    a: z.int(),
    b: z.int(),
    changes: z.array(
      z.strictObject({
        change: z.enum(['added', 'removed', 'changed']),
        span_id: z.string(),
        type: z.string(),
        before: z.string().optional().meta({ description: 'Markdown' }),
        after: z.string().optional().meta({ description: 'Markdown' }),
        moved: z.literal(true).optional(),
      }),
    ),
  })
  .meta({ id: 'DocumentDiff' })
export type DocumentDiff = z.infer<typeof DocumentDiff>

export const DocumentBlame = z
  .strictObject({
    documentId: z.string(),
    revision: z.int(),
    spans: z.array(
      z.strictObject({
        span_id: z.string(),
        parts: z.array(z.strictObject({ text: z.string(), revision: z.int().nullable() })),
      }),
    ),
    sources: z.array(DocumentEntry).meta({ description: 'The updates that the parts name' }),
  })
  .meta({ id: 'DocumentBlame' })

const Text = z.string().trim().min(1).max(MAX_TEXT.text)
const SpanId = z.string().min(1).max(600).meta({ description: 'A block or table cell, as the document shows it' })
const QUOTED = {
  span_id: SpanId,
  quote: z
    .string()
    .min(1)
    .max(MAX_TEXT.quote)
    .optional()
    .meta({ description: 'The text that is meant, exactly; absent: the whole text of the span' }),
  start: z
    .int()
    .nonnegative()
    .optional()
    .meta({ description: 'Where the quote begins, in UTF-16 units; absent: it stands in the span once' }),
}

export const CommentDocument = z
  .strictObject({ ...QUOTED, text: Text, by: By.optional() })
  .meta({ id: 'CommentDocument' })
export type CommentDocument = z.output<typeof CommentDocument>

export const SuggestChange = z
  .strictObject({
    ...QUOTED,
    replacement: z.string().max(MAX_TEXT.text).meta({ description: 'Empty: delete the quote' }),
    reason: z.string().trim().min(1).max(MAX_TEXT.reason).optional(),
    by: By.optional(),
  })
  .meta({ id: 'SuggestChange' })
export type SuggestChange = z.output<typeof SuggestChange>

export const ReplyBody = z.strictObject({ text: Text, by: By.optional() }).meta({ id: 'ReplyToComment' })
export const SettleBody = z.strictObject({ by: By.optional() }).meta({ id: 'SettleComment' })
export const RefuseSuggestion = z
  .strictObject({ reason: z.string().trim().min(1).max(MAX_TEXT.reason), by: By.optional() })
  .meta({ id: 'RefuseSuggestion' })

export const ThreadId = Id.max(64).meta({ description: 'Of a comment or suggestion' })

export const Discussed = z
  .strictObject({
    documentId: z.string(),
    id: z.string().meta({ description: 'Of the comment or suggestion' }),
    revision: z.int().meta({ description: 'Of the event that recorded it' }),
  })
  .meta({ id: 'DocumentDiscussed' })

const Authored = {
  revision: z.int(),
  at: z.string(),
  by: Author,
  runId: z.string().optional(),
  toolCallId: z.string().optional(),
}
const Erasable = z.string().nullable().meta({ description: 'null: erased' })

export const DocumentComment = z
  .strictObject({
    id: z.string(),
    kind: z.enum(['comment', 'suggestion']),
    status: z.enum(['open', 'resolved', 'accepted', 'refused']),
    ...Authored,
    span_id: z.string(),
    quote: Erasable.meta({ description: 'The text when it was written; null: erased' }),
    anchor: z
      .strictObject({ start: z.string(), end: z.string() })
      .meta({ description: 'Loro cursors of the first and last character, base64' }),
    range: z.strictObject({ start: z.int(), end: z.int(), text: z.string() }).nullable().meta({
      description: 'Where the text stands now, in UTF-16 units; null: it was deleted, or the comment is settled',
    }),
    outdated: z.boolean().meta({ description: 'The text has changed since, so the suggestion cannot be accepted' }),
    text: Erasable.optional(),
    replacement: Erasable.optional(),
    reason: z.string().optional(),
    replies: z.array(z.strictObject({ ...Authored, text: Erasable })),
    settled: z.strictObject({ ...Authored, reason: Erasable.optional() }).optional(),
  })
  .meta({ id: 'DocumentComment', description: 'A comment or a suggestion on a document, with its replies' })
export type DocumentComment = z.infer<typeof DocumentComment>

export const CommentsQuery = PageQuery.extend({ status: z.enum(['open', 'all']).default('open') })

export const DocumentComments = z
  .strictObject({
    documentId: z.string(),
    revision: z.int(),
    comments: z.array(DocumentComment),
    settled: z.int().meta({ description: 'How many comments and suggestions of the document are settled' }),
    next: Next,
  })
  .meta({ id: 'DocumentComments' })
export type DocumentComments = z.infer<typeof DocumentComments>

export const VerifiedDocument = z
  .strictObject({
    documentId: z.string(),
    ...PROOF,
    frontier: z.string(),
    root: z.string(),
  })
  .meta({ id: 'VerifiedDocument' })

export const EraseEnvelope = z
  .strictObject({
    revision: z.int().nonnegative().meta({ description: 'Of the request, or of its answer, as /history shows it' }),
    code: ErasureCode.optional(),
    reason: z.string().trim().min(1).max(2000),
    by: By.optional(),
  })
  .meta({ id: 'EraseEnvelope' })
export type EraseEnvelope = z.input<typeof EraseEnvelope>

export const EnvelopeErased = z
  .strictObject({ revision: z.int(), recorded: z.boolean().meta({ description: 'false: it was erased before' }) })
  .meta({ id: 'EnvelopeErased' })

export const DocumentSummary = z
  .strictObject({
    documentId: z.string(),
    title: z.string(),
    source: z.enum(['empty', 'markdown', 'html']),
    revision: z.int().meta({ description: 'Of its last update' }),
    frontier: z.string(),
    createdAt: z.string(),
    createdBy: z.string(),
    updatedAt: z.string(),
    updatedBy: z.string(),
    incompleteFrom: z
      .int()
      .nullable()
      .meta({ description: 'The tables do not show the document from this revision on' }),
  })
  .meta({ id: 'DocumentSummary', description: 'A document without its content' })
export type DocumentSummary = z.infer<typeof DocumentSummary>

export const DocumentList = z
  .strictObject({ position: Position, documents: z.array(DocumentSummary), next: Next })
  .meta({ id: 'DocumentList' })
