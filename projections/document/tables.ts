import type { TableSpec } from '../engine/schema/columns.ts'

export const documentTables = {
  documents: {
    columns: {
      id: 'text!',
      title: 'text!',
      /** empty, markdown, html. */
      source: 'text!',
      /** Position of the document's first event. */
      started: 'integer!',
      created_at: 'text!',
      created_by: 'text!',
      /** The last update: its time, author, revision and frontier. */
      updated_at: 'text!',
      updated_by: 'text!',
      revision: 'integer!',
      frontier: 'text!',
      incomplete_from: 'integer',
    },
    key: ['id'],
    kind: 'document',
    owner: 'id',
    indexes: [['started']],
  },
  /** Requests with their answers. `stream`: the document's, or `gateway-refused` for an unknown document. */
  envelopes: {
    columns: {
      stream: 'text!',
      /** Revision of `envelope_received`. */
      revision: 'integer!',
      document_id: 'text',
      run_id: 'text',
      tool_call_id: 'text',
      /** Null when the request was erased, or answered with 400: then only the hash is stored. */
      client_request_id: 'text',
      /** The first request that this one retries, and the number of the retry. */
      retry_of: 'text',
      retry: 'integer!',
      caller: 'text!',
      hash: 'text',
      size: 'integer',
      /** applied, conflict, refused; null: the answer is unreadable. */
      verdict: 'text',
      status: 'integer',
      code: 'text',
      reason: 'text',
      /** Number of failed preconditions. */
      conflicts: 'integer!',
      frontier: 'text',
      at: 'text!',
      erased: 'integer!',
    },
    key: ['stream', 'revision'],
    owner: 'stream',
    indexes: [['document_id'], ['run_id']],
  },
  /** Comments and suggestions. Texts are null when they were erased. */
  document_comments: {
    columns: {
      document_id: 'text!',
      id: 'text!',
      /** comment, suggestion. */
      kind: 'text!',
      /** Revision of the event that added it. */
      revision: 'integer!',
      run_id: 'text',
      tool_call_id: 'text',
      author: 'text!',
      at: 'text!',
      span_id: 'text',
      /** The commented text at the time of the event. */
      quote: 'text',
      /** Of a comment. */
      text: 'text',
      /** Of a suggestion. */
      replacement: 'text',
      reason: 'text',
      /** open, resolved, accepted, refused. */
      status: 'text!',
      settled_by: 'text',
      settled_at: 'text',
      settled_revision: 'integer',
      /** Why a suggestion was refused. */
      settled_reason: 'text',
    },
    key: ['document_id', 'id'],
    kind: 'document',
    owner: 'document_id',
    indexes: [['run_id']],
  },
  /** Replies to comments and suggestions. */
  document_replies: {
    columns: {
      document_id: 'text!',
      revision: 'integer!',
      comment_id: 'text',
      run_id: 'text',
      tool_call_id: 'text',
      author: 'text!',
      at: 'text!',
      text: 'text',
    },
    key: ['document_id', 'revision'],
    kind: 'document',
    owner: 'document_id',
  },
} as const satisfies Record<string, TableSpec>
