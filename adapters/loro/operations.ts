import { createRequire } from 'node:module'
import type { OperationRange } from '../../domain/ports/index.ts'

// Loro loads WebAssembly, so keepup loads it only at the first update. It uses `require`, because `operationsOf` is
// synchronous.
const load = createRequire(import.meta.url)

/** The operations that an update contains. */
export function operationsOf(update: Uint8Array): readonly OperationRange[] {
  const { decodeImportBlobMeta } = load('loro-crdt') as typeof import('loro-crdt')
  const meta = decodeImportBlobMeta(update, false)
  const starts = meta.partialStartVersionVector.toJSON()
  return [...meta.partialEndVersionVector.toJSON()].map(([peer, to]) => ({ peer, from: starts.get(peer) ?? 0, to }))
}
