import { LoroDoc, type LoroEvent, type PeerID, type VersionVector } from 'loro-crdt'
import { changedWords, TooDeep } from './changed-text.ts'
import { isTooDeep } from './depth.ts'
import { outsideModel } from './outside-model.ts'
import {
  GATEWAY_PEER,
  MALFORMED,
  MISSING_DEPENDENCIES,
  outsideOfModel,
  type RefusedUpdate,
  TOO_DEEP,
} from './person-update.ts'
import type { Replica } from './replica.ts'
import { trapping } from './stack-trap.ts'

/** The size of an update, in bytes, above which Loro does not describe the changes during the import. */
const LARGE = 16 * 1024

/**
 * Imports an update and checks for faults that its description does not show. `words`: see `ImportedChange`. After a
 * refusal the replica must be rebuilt.
 */
export function importPerson(
  replica: Replica,
  update: Uint8Array,
  gatewayPeer: PeerID,
): RefusedUpdate | { readonly words: readonly string[] } {
  const { doc } = replica
  try {
    return trapping(() => {
      const before = doc.oplogVersion()
      const since = doc.oplogFrontiers()
      const seen: LoroEvent[] = []
      const { pending } =
        update.length > LARGE
          ? replica.importUnseen(update)
          : replica.index.importing(
              () => doc.import(update),
              ({ events }) => seen.push(...events),
            )
      if (pending !== null && pending.size > 0) return MISSING_DEPENDENCIES
      if (doc.oplogVersion().get(gatewayPeer) !== before.get(gatewayPeer)) return GATEWAY_PEER
      const { changes } = doc.exportJsonUpdates(before, undefined, false)
      if (isTooDeep(doc, changes)) return TOO_DEEP
      const outside = outsideModel(doc, replica.index, changes)
      if (outside !== null) return outsideOfModel(outside)
      if (!isKept(doc, before, update)) return MALFORMED
      const events = update.length > LARGE ? doc.diff(since, doc.oplogFrontiers(), false) : null
      const texts = events === null ? seen : events.map(([target, diff]) => ({ target, diff }))
      return { words: changedWords(doc, changes, texts) }
    })
  } catch (error) {
    return error instanceof TooDeep ? TOO_DEEP : MALFORMED
  }
}

/**
 * Whether the document with the update can be stored. Loro imports some forged updates that it cannot export again. If
 * Loro exports the update unchanged, the update is intact. Otherwise this check loads a snapshot, which takes as long
 * as making one.
 */
function isKept(doc: LoroDoc, before: VersionVector, update: Uint8Array): boolean {
  if (Buffer.compare(doc.export({ mode: 'update', from: before }), update) === 0) return true
  const copy = LoroDoc.fromSnapshot(doc.export({ mode: 'snapshot' }))
  const isWhole = copy.oplogVersion().compare(doc.oplogVersion()) === 0
  copy.free()
  return isWhole
}
