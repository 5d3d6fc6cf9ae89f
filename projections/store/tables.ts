import type { TableSpec } from '../engine/schema/columns.ts'

/** Stores of context variables. The values are in the log alone. */
export const contextTables = {
  context_stores: {
    columns: {
      /** Its stream is `context-<store>`. */
      store: 'text!',
      /** Position of its first event. */
      started: 'integer!',
      created_at: 'text!',
      created_by: 'text!',
      /** Of its last change. */
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
      /** Of the value's text in UTF-8. */
      bytes: 'integer!',
      /** Of the event that holds the value. */
      revision: 'integer!',
      at: 'text!',
      set_by: 'text!',
      /** The run that caused it; null: none did. */
      run_id: 'text',
      deleted_at: 'text',
      deleted_by: 'text',
      /** 1: the value was emptied for ever. */
      erased: 'integer!',
    },
    key: ['store', 'key'],
    kind: 'context',
    owner: 'store',
    indexes: [['run_id']],
  },
} as const satisfies Record<string, TableSpec>
