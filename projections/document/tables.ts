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
} as const satisfies Record<string, TableSpec>
