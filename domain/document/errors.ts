import type { StreamRejection } from '../stream/aggregate.ts'

/** The failure of a document's operation. `message` says what to do. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError'
  readonly code: DocumentErrorCode
  constructor(code: DocumentErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

export type DocumentErrorCode =
  | StreamRejection
  | 'DOCUMENT_EXISTS'
  | 'DOCUMENT_UNKNOWN'
  | 'CONTENT_REFUSED' // the HTML or Markdown of a new document
  | 'UPDATE_MALFORMED' // the update of a person, as the next two
  | 'UPDATE_OF_GATEWAY'
  | 'UPDATE_INCOMPLETE'
  | 'UPDATE_OUTSIDE_MODEL' // a block of it repeats an id, or has a type, attributes or content that no block has
  | 'UPDATE_TOO_LARGE'
  | 'UPDATE_HOLDS_SECRET'
  | 'DOCUMENT_CORRUPT' // the stored bytes are not those of a document, or updates are missing
  | 'DOCUMENT_BUSY' // a change waits to be kept or discarded: a programming error
  | 'DOCUMENT_CLOSED'
  | 'EDIT_INVALID' // an edit that no dry-run at this revision has found possible: a programming error
