import { NO_OBLIGATIONS } from '../agent/state/courier.ts'
import { callWithoutText } from '../agent/state/digest.ts'
import { canonicalText } from '../log/canonical.ts'
import { sha256 } from '../log/ids.ts'
import { EMPTY_ROOT } from '../log/root.ts'
import { type ExternalState, NO_PERMISSIONS } from './state.ts'

// The digest is part of the storage format: a change of the view below raises FOLD.

/** Version of the fold and of the view that digests are taken over. */
export const FOLD = 1

/** Members that the digest leaves out while they have this value, so that a later member leaves older digests valid. */
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

/** Hex SHA-256 over the state; request and tools are represented by the hash of the body that they came in. */
export function digest({ request: _, tools, ...rest }: ExternalState): string {
  const calls = tools && { asked: tools.asked, step: tools.step, open: tools.open.map(callWithoutText) }
  const view = { ...rest, ...(calls !== undefined && { tools: calls }) }
  const covered = Object.entries(view).filter(([name, value]) => !isInitial(name as keyof ExternalState, value))
  return sha256(`keepup-external-fold-${FOLD}\n${canonicalText(Object.fromEntries(covered))}`)
}

function isInitial(name: keyof ExternalState, value: unknown): boolean {
  const initial = INITIAL[name]
  return initial !== undefined && canonicalText(initial) === canonicalText(value)
}
