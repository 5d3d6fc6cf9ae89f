import { createHash } from 'node:crypto'
import type { AgentState } from './state.ts'

// The digest is part of the storage format: a change of the view below raises FOLD.

/** Version of the fold and of the view that digests are taken over. */
export const FOLD = 1

/**
 * The digest of a folded state, hex SHA-256: over roots of what grows and the small part that changes. The spec is
 * represented by the hash of the event it came from; `lastText` follows from the messages.
 */
export function digestOf(state: AgentState): string {
  const { spec: _spec, lastText: _lastText, ...view } = state
  return createHash('sha256').update(`keepup-fold-${FOLD}\n`).update(stable(view)).digest('hex')
}

/** JSON with sorted keys. States are plain JSON, so that this is enough. */
function stable(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(stable).join(',')}]`
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${stable((value as Record<string, unknown>)[key])}`)
  return `{${members.join(',')}}`
}
