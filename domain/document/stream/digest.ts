import { canonicalText } from '../../log/canonical.ts'
import { sha256 } from '../../log/ids.ts'
import { GENESIS } from '../../log/seal.ts'
import { StateDigest } from '../../stream/state-digest.ts'
import type { DocumentState } from './state.ts'

// The digest is part of the storage format. A change of the view below requires a higher FOLD.

/** Version of the fold and of the view that digests cover. */
export const DOCUMENT_FOLD = 2

/** Whether a digest covers a member. */
const COVERED: { readonly [K in keyof Required<DocumentState>]: true } = {
  title: true,
  gatewayPeer: true,
  frontier: true,
  root: true,
  updates: true,
  open: true,
}

const digests = new StateDigest<DocumentState>({
  members: Object.keys(COVERED) as (keyof DocumentState)[],
  initial: { frontier: '', root: GENESIS, updates: 0 },
  shown: {},
})

/** The digest of a folded state, hex SHA-256. */
export const documentDigest = (state: DocumentState): string =>
  digests.byHashes(state, `keepup-document-fold-${DOCUMENT_FOLD}`)

/** The digest under an earlier fold; null: unknown. Fold 1 covered the canonical text of the state. */
export const earlierDocumentDigest = (fold: number, state: DocumentState): string | null =>
  fold === 1 ? sha256(canonicalText(state)) : null
