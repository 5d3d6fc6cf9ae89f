import { z } from 'zod'
import { ToolError } from '../../../domain/calls/errors.ts'
import { byteLength, RESULT_BYTES } from '../../../domain/calls/truncate.ts'
import { DocumentError } from '../../../domain/document/errors.ts'
import { documentCallerOf, forTool } from '../../../domain/document/runtime/agent-call.ts'
import { MAX_TEXT, type ThreadNow } from '../../../domain/document/runtime/discussions.ts'
import type { DocumentGateway } from '../../../domain/document/runtime/gateway.ts'
import { asJson, type JsonObject } from '../../../domain/log/json.ts'
import { defineTool, wellFormedText } from '../../workspace/tools/kit.ts'
import { docId } from './doc-id.ts'

// The tools by which agents discuss a document without a change of its text.

const quoted = {
  doc_id: docId,
  span_id: z.string().describe('The block or table cell, as read_document shows it'),
  quote: wellFormedText
    .min(1)
    .max(MAX_TEXT.quote)
    .optional()
    .describe('The plain text that is meant, exactly; it stands in the span once. Absent: the whole text of the span'),
}

/** The members of a quote for the gateway. */
const at = ({ span_id, quote }: { readonly span_id: string; readonly quote?: string | undefined }) => ({
  spanId: span_id,
  ...(quote === undefined ? {} : { quote }),
})

export const commentDocumentTool = (gateway: DocumentGateway) =>
  defineTool({
    name: 'comment_document',
    description: 'Comment on a text of a document, for the people and agents who edit it. The text does not change.',
    parameters: z.strictObject({ ...quoted, text: wellFormedText.trim().min(1).max(MAX_TEXT.text) }),
    effect: 'idempotent',
    timeLimitMs: 60_000,
    run: ({ doc_id, text, ...range }, context) =>
      forTool(async () => {
        const caller = documentCallerOf(context)
        const made = await gateway.discussions.comment(doc_id, at(range), text, caller, context.toolCallId)
        return { content: asJson({ doc_id, comment: made.id, revision: made.revision }) }
      }),
  })

export const suggestChangeTool = (gateway: DocumentGateway) =>
  defineTool({
    name: 'suggest_change',
    description:
      'Suggest another text for a part of a document. Nothing changes until a person accepts it; a suggestion whose text ' +
      'others have changed meanwhile cannot be accepted. Use edit_document to change the text yourself.',
    parameters: z.strictObject({
      ...quoted,
      replacement: wellFormedText.max(MAX_TEXT.text).describe('The plain text in its place; empty: delete the quote'),
      reason: wellFormedText.trim().min(1).max(MAX_TEXT.reason).describe('Why, for the person who decides'),
    }),
    effect: 'idempotent',
    timeLimitMs: 60_000,
    run: ({ doc_id, replacement, reason, ...range }, context) =>
      forTool(async () => {
        const asked = { ...at(range), replacement, reason }
        const caller = documentCallerOf(context)
        const made = await gateway.discussions.suggest(doc_id, asked, caller, context.toolCallId)
        return { content: asJson({ doc_id, suggestion: made.id, revision: made.revision }) }
      }),
  })

export const listCommentsTool = (gateway: DocumentGateway) =>
  defineTool({
    name: 'list_comments',
    description:
      'List the comments and suggestions of a document with their replies and what came of them, the newest first.',
    parameters: z.strictObject({
      doc_id: docId,
      before: z.string().max(64).optional().describe('The "next" of the part before; absent: the newest'),
    }),
    effect: 'pure',
    timeLimitMs: 60_000,
    run: ({ doc_id, before }, { redact = (text) => text }) =>
      forTool(async () => {
        const asked = { status: 'all', order: 'newest', after: before, limit: MAX_PAGE } as const
        const { revision, threads, next } = await gateway.discussions.list(doc_id, asked).catch(noSuchComment)
        return { content: asJson({ doc_id, revision, ...page(threads, next, redact) }) }
      }),
  })

/** The limit of a page, in bytes. The rest is for the other members of the result. */
const PAGE_BYTES = RESULT_BYTES - 2048
/** The most threads of a page. */
const MAX_PAGE = 200
/** The limit of each text in a list, in UTF-16 units. */
const TEXT = 2_000

function noSuchComment(error: unknown): never {
  if (error instanceof DocumentError && error.code === 'COMMENT_UNKNOWN')
    throw new ToolError('RESOURCE_NOT_FOUND', `before: ${error.message}`)
  throw error
}

/** As many threads as fit into a result, at least one. `next`: the id of the last one, if more follow. */
function page(threads: readonly ThreadNow[], next: string | null, redact: (text: string) => string) {
  const shown: JsonObject[] = []
  let left = PAGE_BYTES
  for (const thread of threads) {
    const one = shownThread(thread, redact)
    left -= byteLength(JSON.stringify(one))
    if (left < 0 && shown.length > 0) return { comments: shown, next: String(shown.at(-1)!.id) }
    shown.push(one)
  }
  return next === null ? { comments: shown } : { comments: shown, next }
}

function shownThread(thread: ThreadNow, redact: (text: string) => string): JsonObject {
  // Redact before truncating: a cut could split a secret.
  const said = (text: string | null | undefined) => (text == null ? (text ?? null) : redact(text).slice(0, TEXT))
  const { id, kind, status, by, at, anchor, range, outdated, replies, settled } = thread
  return asJson({
    ...{ id, kind, status, by: by.id, at, span_id: anchor.span, quote: said(anchor.quote) },
    ...(thread.kind === 'comment'
      ? { text: said(thread.text) }
      : { replacement: said(thread.replacement), reason: said(thread.reason), outdated }),
    ...(range !== null && range.text !== anchor.quote ? { text_now: said(range.text) } : {}),
    ...(status === 'open' && range === null ? { text_deleted: true } : {}),
    ...(replies.length === 0
      ? {}
      : { replies: replies.slice(-20).map((one) => ({ by: one.by.id, text: said(one.text) })) }),
    ...(settled === undefined
      ? {}
      : {
          settled: {
            by: settled.by.id,
            at: settled.at,
            ...('reason' in settled ? { reason: said(settled.reason) } : {}),
          },
        }),
  }) as JsonObject
}
