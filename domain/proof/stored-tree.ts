import { parseCursor } from '../log/cursor.ts'
import { malformed } from '../log/proof/proof-error.ts'
import { parseEdge } from '../log/proof/tree.ts'
import type { StoredTree } from '../ports/proof.ts'

/** Reads an edge and a cursor that a store has kept. Throws `MALFORMED`. */
export function parseStoredTree(edge: Uint8Array, cursor: string): StoredTree {
  try {
    const tree = { edge: parseEdge(edge), cursor: parseCursor(cursor) }
    if (tree.edge.size > 0) return tree
  } catch {
    // Every damage has the same remedy.
  }
  throw treeMalformed()
}

export const treeMalformed = () =>
  malformed('the stored tree is damaged: run "keepup call rebuildProofTree", which makes it again from the log')
