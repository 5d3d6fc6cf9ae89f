import type { TableSpec } from '../engine/schema/columns.ts'

/** Threads of checkpoints of other programs. The values are only in the log. */
export const threadTables = {
  threads: {
    columns: {
      /** The stream is `thread-<id>`. */
      id: 'text!',
      /** The name that the program gave. Null: erased, or deleted. */
      thread: 'text',
      /** The last checkpoint that was saved. Null: none, or deleted. */
      checkpoint: 'text',
      created_at: 'text!',
      created_by: 'text!',
      updated_at: 'text!',
      deleted_at: 'text',
      revision: 'integer!',
      incomplete_from: 'integer',
    },
    key: ['id'],
    kind: 'thread',
    owner: 'id',
  },
} as const satisfies Record<string, TableSpec>
