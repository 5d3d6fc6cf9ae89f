import type { Discussed, Listed, Quoted, ThreadNow } from '../../../domain/document/runtime/discussions.ts'
import type { DocumentGateway } from '../../../domain/document/runtime/gateway.ts'
import type { DocumentCaller } from '../../../domain/document/runtime/types.ts'
import { omitUndefined } from '../omit-undefined.ts'
import { mustWrite } from '../runs/record-command.ts'
import type { RequestOptions } from '../runs/request-options.ts'
import type { Services } from '../services.ts'
import { personOf } from './create-document.ts'
import type { CommentDocument, DocumentComment, SuggestChange } from './schemas.ts'

/**
 * A page of the comments and suggestions of a document in the order in which they were added. Rejects with
 * `DOCUMENT_UNKNOWN`, `COMMENT_UNKNOWN`.
 */
export async function documentComments(
  { documents }: { readonly documents: DocumentGateway },
  documentId: string,
  page: Listed,
) {
  const { threads, ...rest } = await documents.discussions.list(documentId, page)
  return { documentId, ...rest, comments: threads.map(viewOf) }
}

function viewOf({ anchor: { span, quote, start, end }, ...thread }: ThreadNow): DocumentComment {
  return omitUndefined({ ...thread, span_id: span, quote, anchor: { start, end } }) as DocumentComment
}

export const quotedOf = (asked: Pick<CommentDocument, 'span_id' | 'quote' | 'start'>): Quoted =>
  omitUndefined({ spanId: asked.span_id, quote: asked.quote, start: asked.start })

export const commentDocument = (s: Services, documentId: string, asked: CommentDocument, options: RequestOptions) =>
  discussed(s, documentId, asked.by, options, (caller) =>
    s.documents.discussions.comment(documentId, quotedOf(asked), asked.text, caller, options.key),
  )

export function suggestChange(s: Services, documentId: string, asked: SuggestChange, options: RequestOptions) {
  const { replacement, reason } = asked
  const suggested = omitUndefined({ ...quotedOf(asked), replacement, reason })
  return discussed(s, documentId, asked.by, options, (caller) =>
    s.documents.discussions.suggest(documentId, suggested, caller, options.key),
  )
}

/** Records a step of a discussion as a person. Rejects with `READ_ONLY`. */
export async function discussed(
  s: Services,
  documentId: string,
  by: string | undefined,
  options: RequestOptions,
  step: (caller: DocumentCaller) => Promise<Discussed>,
) {
  mustWrite(s)
  return { documentId, ...(await step(personOf(by, options))) }
}
