import { decodeImportBlobMeta, type ImportBlobMetadata, type LoroDoc, type PeerID } from 'loro-crdt'
import type { ImportedUpdate } from '../../domain/ports/index.ts'
import { MAX_CONTAINER_DEPTH } from './depth.ts'
import { trapping } from './stack-trap.ts'

export type RefusedUpdate = Extract<ImportedUpdate, { kind: 'refused' }>

const refused = (reason: RefusedUpdate['reason'], message: string): RefusedUpdate => ({
  kind: 'refused',
  reason,
  message,
})

export const MALFORMED = refused(
  'malformed',
  'these bytes are not an update of a Loro document; export one with mode "update"',
)
export const GATEWAY_PEER = refused(
  'gateway_peer',
  "the update contains operations of the gateway's own peer; export from the version that the gateway has",
)
export const MISSING_DEPENDENCIES = refused(
  'missing_dependencies',
  'the update builds on operations that the gateway does not have; send those first, or with it',
)

export const outsideOfModel = (why: string): RefusedUpdate =>
  refused(
    'outside_model',
    `${why}; import the document's updates, correct the block, and export from the version that the gateway has`,
  )

export const TOO_DEEP = refused(
  'malformed',
  `the update nests containers or values more than ${MAX_CONTAINER_DEPTH} deep; a document has no such ones`,
)
/**
 * The limit of new operations in an update. Loro's time for a long text of another peer grows with the square of its
 * length.
 */
const MAX_OPERATIONS = 250_000
const TOO_MANY = refused(
  'too_many_operations',
  `the update has more than ${MAX_OPERATIONS} operations, of which each character is one; send it in parts`,
)

/** Checks an update by its own description, before its import. Null: the description shows no fault. */
export function describedFault(doc: LoroDoc, update: Uint8Array, gatewayPeer: PeerID): ImportedUpdate | null {
  const meta = described(update)
  if (meta?.mode !== 'update') return MALFORMED
  const ends = meta.partialEndVersionVector.toJSON()
  if (ends.has(gatewayPeer)) return GATEWAY_PEER
  const version = doc.oplogVersion()
  const known = (peer: PeerID): number => version.get(peer) ?? 0
  if (meta.startFrontiers.some(({ peer, counter }) => counter >= known(peer) && counter >= (ends.get(peer) ?? 0)))
    return MISSING_DEPENDENCIES
  const isNew = [...ends].map(([peer, end]) => Math.max(0, end - known(peer)))
  if (isNew.every((count) => count === 0)) return { kind: 'known' }
  return isNew.reduce((sum, count) => sum + count) > MAX_OPERATIONS ? TOO_MANY : null
}

function described(update: Uint8Array): ImportBlobMetadata | null {
  try {
    return trapping(() => decodeImportBlobMeta(update, true))
  } catch {
    return null
  }
}
