import type { TableSpec } from './columns.ts'

export const ownTables = {
  /** The progress of the tables: one row, moved by compare-and-set with every batch. */
  position: {
    columns: {
      id: 'integer!',
      log_id: 'text!',
      /** -1 before the first event. */
      position: 'integer!',
      prepare: 'integer',
      hash: 'text!',
      events: 'integer!',
    },
    key: ['id'],
    owner: '',
  },
  /** The last projected event of each stream, and its run. An event that does not follow it parks the stream. */
  streams: {
    columns: { stream: 'text!', run_id: 'text!', revision: 'integer!', hash: 'text!' },
    key: ['stream'],
    owner: '',
  },
} as const satisfies Record<string, TableSpec>
