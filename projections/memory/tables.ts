import type { TableSpec } from '../engine/schema/columns.ts'

/** Facts that agents and people have saved. */
export const memoryTables = {
  memories: {
    columns: {
      /** `<scope>-<id>`, as in the stream's name. */
      id: 'text!',
      /** run, workspace, global. */
      scope: 'text!',
      /** The run's id, the workspace's path, or the empty text. */
      place: 'text!',
      /** Null: forgotten. */
      text: 'text',
      /** The index contains this word and the words of the text. `words` null: the search does not find the fact. */
      place_word: 'text!',
      words: 'text',
      /** Position of the fact's first event. */
      started: 'integer!',
      /** Null: a person saved it. */
      run_id: 'text',
      tool_call_id: 'text',
      created_at: 'text!',
      created_by: 'text!',
      /** The last change: its time, author and revision. */
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
