import type { TableSpec } from '../engine/schema/columns.ts'

/** Documents, and requests to change them. */
export const documentTables = {
  documents: {
    columns: {
      id: 'text!',
      title: 'text!',
      /** empty, markdown, html. */
      source: 'text!',
      /** Position of its first event. */
      started: 'integer!',
      created_at: 'text!',
      created_by: 'text!',
      /** Of its last update. */
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
  /** Requests with their answers. `stream`: that of the document, or `gateway-refused` where there is no such document. */
  envelopes: {
    columns: {
      stream: 'text!',
      /** Of `envelope_received`. */
      revision: 'integer!',
      document_id: 'text',
      run_id: 'text',
      tool_call_id: 'text',
      /** Null: of a request answered with 400 only the hash is kept, and of an erased one. */
      client_request_id: 'text',
      /** The first request that this one retries, and which retry it is. */
      retry_of: 'text',
      retry: 'integer!',
      caller: 'text!',
      hash: 'text',
      size: 'integer',
      /** applied, conflict, refused; null: the answer cannot be read. */
      verdict: 'text',
      status: 'integer',
      code: 'text',
      reason: 'text',
      /** Number of preconditions that did not hold. */
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
