import type { TableSpec } from './columns.ts'

/** Tables with rows of streams of any kind. */
export const streamTables = {
  /** The streams that must be driven, at most one row each: `wake_at` is copied from the last header of an append. */
  due: {
    columns: {
      stream: 'text!',
      run_id: 'text!',
      /** ms since the epoch. */
      wake_at: 'integer!',
      /** owed, parked. */
      reason: 'text!',
    },
    key: ['stream'],
    owner: 'stream',
    indexes: [['wake_at']],
  },
  /** Streams that stopped at an event which this program cannot project; the event stays in the log, read again on release. */
  parked: {
    columns: {
      stream: 'text!',
      /** The stream's run; where it is not known, the id of its agent, which is that of the run of a root agent. */
      run_id: 'text!',
      revision: 'integer!',
      position: 'integer!',
      event_id: 'text!',
      type: 'text!',
      version: 'integer!',
      code: 'text!',
      message: 'text!',
      at: 'text!',
    },
    key: ['stream'],
    owner: 'stream',
  },
  /** Erased bodies. `seen`: the rows were made without the body. The other columns are from the `erased` event. */
  erasures: {
    columns: {
      stream: 'text!',
      revision: 'integer!',
      seen: 'integer',
      reason: 'text',
      by: 'text',
      at: 'text',
    },
    key: ['stream', 'revision'],
    owner: 'stream',
  },
} as const satisfies Record<string, TableSpec>
