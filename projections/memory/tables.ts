import type { TableSpec } from '../engine/schema/columns.ts'

/** Facts that agents and people have saved. */
export const memoryTables = {
  memories: {
    columns: {
      /** `<scope>-<id>`, as its stream is named. */
      id: 'text!',
      /** run, workspace, global. */
      scope: 'text!',
      /** The run's id, the workspace's path, or the empty text. */
      place: 'text!',
      /** Null: forgotten. */
      text: 'text',
      /** The index holds this word and those of the text; null: nothing finds it. */
      place_word: 'text!',
      words: 'text',
      /** Position of its first event. */
      started: 'integer!',
      /** Null: a person saved it. */
      run_id: 'text',
      tool_call_id: 'text',
      created_at: 'text!',
      created_by: 'text!',
      /** Of its last change. */
      updated_at: 'text!',
      updated_by: 'text!',
      revision: 'integer!',
      forgotten_at: 'text',
      incomplete_from: 'integer',
    },
    key: ['id'],
    kind: 'memory',
    owner: 'id',
    indexes: [['started'], ['run_id']],
    partial: { columns: ['scope', 'place', 'started'], where: 'text is not null' },
  },
} as const satisfies Record<string, TableSpec>
