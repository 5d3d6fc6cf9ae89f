import type { TableSpec } from './columns.ts'

/** Tables of the projector itself. */
export const ownTables = {
  /** How far the tables have come: the one row that is moved by compare-and-set with every batch. */
  position: {
    columns: {
      id: 'integer!',
      log_id: 'text!',
      /** -1 before the first event. */
      position: 'integer!',
      prepare: 'integer',
      hash: 'text!',
      /** Events folded so far. */
      events: 'integer!',
    },
    key: ['id'],
    owner: '',
  },
  /** The last event projected of each stream, and its run: an event that does not follow it parks the stream. */
  streams: {
    columns: { stream: 'text!', run_id: 'text!', revision: 'integer!', hash: 'text!' },
    key: ['stream'],
    owner: '',
  },
} as const satisfies Record<string, TableSpec>
