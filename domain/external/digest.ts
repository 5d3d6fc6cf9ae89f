import { canonicalText } from '../log/canonical.ts'
import { sha256 } from '../log/ids.ts'
import type { ExternalState } from './state.ts'

// The digest is part of the storage format: a change of the view below raises FOLD.

/** Version of the fold and of the view that digests are taken over. */
export const FOLD = 1

/** Hex SHA-256 over the state; the request is represented by the hash of the body that it came in. */
export function digest({ request: _, ...view }: ExternalState): string {
  return sha256(`keepup-external-fold-${FOLD}\n${canonicalText(view)}`)
}
