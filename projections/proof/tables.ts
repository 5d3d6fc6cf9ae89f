import type { TableSpec } from '../engine/schema/columns.ts'

/** The names of the log's tree with their keys, the anchors, the heads that each anchor keeps, and the heads of other logs that were cosigned. */
export const proofTables = {
  log_origins: {
    columns: {
      proof: 'text!',
      origin: 'text!',
      /** first, loss, key_lost. */
      reason: 'text!',
      /** The current verifier key. */
      vkey: 'text!',
      begun_at: 'text!',
      rotated_at: 'text',
      revision: 'integer!',
      incomplete_from: 'integer',
    },
    key: ['origin'],
    kind: 'proof',
    owner: 'proof',
  },
  anchors: {
    columns: {
      proof: 'text!',
      anchor: 'text!',
      /** folder, git, witness, timestamp. */
      kind: 'text!',
      target: 'text!',
      added_at: 'text!',
      added_by: 'text!',
      removed_at: 'text',
      /** The number of events that the last anchored head covers. */
      size: 'integer',
      anchored_at: 'text',
      revision: 'integer!',
      incomplete_from: 'integer',
    },
    key: ['anchor'],
    kind: 'proof',
    owner: 'proof',
  },
  anchored_heads: {
    columns: {
      proof: 'text!',
      revision: 'integer!',
      anchor: 'text!',
      origin: 'text!',
      size: 'integer!',
      root: 'text!',
      checkpoint: 'text!',
      receipt: 'text',
      anchored_at: 'text!',
      incomplete_from: 'integer',
    },
    key: ['revision'],
    kind: 'proof',
    owner: 'proof',
    indexes: [['anchor', 'size']],
  },
  cosigned_heads: {
    columns: {
      proof: 'text!',
      revision: 'integer!',
      origin: 'text!',
      size: 'integer!',
      root: 'text!',
      checkpoint: 'text!',
      cosigned_at: 'text!',
      incomplete_from: 'integer',
    },
    key: ['revision'],
    kind: 'proof',
    owner: 'proof',
    indexes: [['origin', 'size']],
  },
} as const satisfies Record<string, TableSpec>
