import type { TableSpec } from './columns.ts'

/** Tables with rows of streams of any kind. */
export const streamTables = {
  /** The streams that need their driver, at most one row each. `wake_at` comes from the last header of an append. */
  due: {
    columns: {
      stream: 'text!',
      run_id: 'text!',
      /** ms since the epoch. */
      wake_at: 'integer!',
      /** 1: the driver is needed at once: `wake_at` is not after the time of the append. Processes compare no clocks then. */
      at_once: 'integer!',
      /** owed, parked. */
      reason: 'text!',
    },
    key: ['stream'],
    owner: 'stream',
    indexes: [['wake_at'], ['at_once', 'wake_at']],
  },
  /** Streams that stopped at an event that this program cannot project. A release reads it again from the log. */
  parked: {
    columns: {
      stream: 'text!',
      /** The stream's run. If the run is unknown: the agent's id, which for a root agent equals the run's id. */
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
  /** Erased bodies. `seen`: the rows were made without the body. The other columns come from the `erased` event. */
  erasures: {
    columns: {
      stream: 'text!',
      revision: 'integer!',
      seen: 'integer',
      /** Of the reason, such as request, retention or legal. */
      code: 'text',
      reason: 'text',
      by: 'text',
      at: 'text',
    },
    key: ['stream', 'revision'],
    owner: 'stream',
  },
} as const satisfies Record<string, TableSpec>
