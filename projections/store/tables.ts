import type { TableSpec } from '../engine/schema/columns.ts'

/** Stores of context variables. The values are only in the log. */
export const contextTables = {
  context_stores: {
    columns: {
      /** The store's stream is `context-<store>`. */
      store: 'text!',
      /** Position of the store's first event. */
      started: 'integer!',
      created_at: 'text!',
      created_by: 'text!',
      /** The last change: its time, author and revision. */
      updated_at: 'text!',
      updated_by: 'text!',
      revision: 'integer!',
      incomplete_from: 'integer',
    },
    key: ['store'],
    kind: 'context',
    owner: 'store',
  },
  stored_variables: {
    columns: {
      store: 'text!',
      key: 'text!',
      /** string, number, boolean, null, array, object. */
      type: 'text!',
      /** Size of the value's text, in UTF-8 bytes. */
      bytes: 'integer!',
      /** Revision of the event with the value. */
      revision: 'integer!',
      at: 'text!',
      set_by: 'text!',
      /** The run that set the value; null: no run. */
      run_id: 'text',
      deleted_at: 'text',
      deleted_by: 'text',
      /** 1: the value was erased permanently. */
      erased: 'integer!',
    },
    key: ['store', 'key'],
    kind: 'context',
    owner: 'store',
    indexes: [['run_id']],
  },
} as const satisfies Record<string, TableSpec>
