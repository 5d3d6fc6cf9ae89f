import type { TableSpec } from '../engine/schema/columns.ts'

/** Tags and notes that runs have now. Removed and erased ones have no row. `revision`: of the event that added them. */
export const annotationTables = {
  run_tags: {
    columns: { run_id: 'text!', revision: 'integer!', tag: 'text!', by: 'text!', claimed: 'integer!', at: 'text!' },
    key: ['run_id', 'revision'],
    kind: 'annotation',
    owner: 'run_id',
    indexes: [['tag']],
  },
  run_notes: {
    columns: { run_id: 'text!', revision: 'integer!', text: 'text!', by: 'text!', claimed: 'integer!', at: 'text!' },
    key: ['run_id', 'revision'],
    kind: 'annotation',
    owner: 'run_id',
  },
  /** The last change of the tags and notes of each run, erasures not included. */
  run_annotations: {
    columns: { run_id: 'text!', revision: 'integer!', updated_at: 'text!' },
    key: ['run_id'],
    kind: 'annotation',
    owner: 'run_id',
  },
} as const satisfies Record<string, TableSpec>
