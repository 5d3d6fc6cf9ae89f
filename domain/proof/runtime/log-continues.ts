import type { LogCheckpoint } from '../../log/proof/checkpoint.ts'
import { equalBytes } from '../../log/proof/encoding.ts'
import { appendLeaves, EMPTY_EDGE, edgeRoot, eventLeaf } from '../../log/proof/tree.ts'
import type { EventLog } from '../../ports/index.ts'

/** Whether the log begins with the events of a head. Reads the log up to there, and no stored tree. */
export async function logContinues(log: EventLog, { size, root }: Omit<LogCheckpoint, 'origin'>): Promise<boolean> {
  let edge = EMPTY_EDGE
  for await (const page of log.readAll(null, { limit: size, bodies: false, everyKind: true }))
    edge = appendLeaves(
      edge,
      page.slice(0, size - edge.size).map(({ hash }) => eventLeaf(hash)),
    ).edge
  return edge.size === size && equalBytes(edgeRoot(edge), root)
}

/** What to do when the stored tree proves no event of an intact log. */
export const TREE_DAMAGED = 'the stored tree was changed, and the log was not: run "keepup call rebuildProofTree"'
