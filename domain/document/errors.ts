import type { StreamRejection } from '../stream/aggregate.ts'
import { StreamError } from '../stream/errors.ts'

/** A failed operation on a document. `message` says what to do. */
export class DocumentError extends StreamError<DocumentErrorCode> {
  override readonly name = 'DocumentError'
}

/** The code of a {@link DocumentError}. */
export type DocumentErrorCode =
  | StreamRejection
  | 'DOCUMENT_EXISTS'
  | 'DOCUMENT_UNKNOWN'
  | 'CONTENT_REFUSED' // the HTML or Markdown of a new document
  | 'UPDATE_MALFORMED' // a person's update, also in the next two
  | 'UPDATE_OF_GATEWAY'
  | 'UPDATE_INCOMPLETE'
  | 'UPDATE_OUTSIDE_MODEL' // a block has a duplicate id, or a type, attributes or content outside the document model
  | 'UPDATE_TOO_LARGE'
  | 'UPDATE_HOLDS_SECRET'
  | 'COMMENT_UNKNOWN' // also: a suggestion
  | 'COMMENT_SETTLED' // the comment was resolved, or the suggestion accepted or refused
  | 'SUGGESTION_OUTDATED' // the text that the suggestion replaces has changed
  | 'QUOTE_REFUSED' // the span does not contain the quoted text exactly once
  | 'TOO_MANY_COMMENTS'
  | 'DOCUMENT_CORRUPT' // the stored bytes are not a valid document, or updates are missing
  | 'DOCUMENT_BUSY' // an earlier change is not yet kept or discarded: a programming error
  | 'DOCUMENT_CLOSED'
  | 'EDIT_INVALID' // no dry-run at this revision has validated the edit: a programming error
