import { callWithoutText } from '../calls/call.ts'
import { NO_OBLIGATIONS } from '../courier/ledger.ts'
import { canonicalText } from '../log/canonical.ts'
import { sha256 } from '../log/ids.ts'
import { EMPTY_ROOT } from '../log/root.ts'
import { type ExternalState, NO_PERMISSIONS } from './state.ts'

// The digest is part of the storage format. A change of the view below requires a higher FOLD.

/** Version of the fold and of the view that digests cover. */
export const EXTERNAL_FOLD = 1

/**
 * Members that the digest omits while they have these values. A new member with an initial value therefore keeps older
 * digests valid.
 */
const INITIAL: Partial<ExternalState> = {
  driver: null,
  cancelledAt: null,
  events: EMPTY_ROOT,
  sessionId: null,
  usage: null,
  permissions: NO_PERMISSIONS,
  reportsTo: null,
  gates: [],
  courier: NO_OBLIGATIONS,
}

/**
 * Hex SHA-256 over the state. The hash of the recorded body represents the request and the tools; the root of the
 * batches represents the reported spans, and the session that a span named: an erasure removes it.
 */
export function externalDigest({ request: _, tools, reported, ...rest }: ExternalState): string {
  const calls = tools && { asked: tools.asked, step: tools.step, open: tools.open.map(callWithoutText) }
  const view = {
    ...rest,
    ...(calls !== undefined && { tools: calls }),
    ...(reported !== undefined && { sessionId: null, reported: { ...reported, spans: reported.count } }),
  }
  const covered = Object.entries(view).filter(([name, value]) => !isInitial(name as keyof ExternalState, value))
  return sha256(`keepup-external-fold-${EXTERNAL_FOLD}\n${canonicalText(Object.fromEntries(covered))}`)
}

function isInitial(name: keyof ExternalState, value: unknown): boolean {
  const initial = INITIAL[name]
  return initial !== undefined && canonicalText(initial) === canonicalText(value)
}
