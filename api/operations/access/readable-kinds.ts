import type { Right } from '../../../domain/access/rights.ts'
import type { Identity } from '../../../domain/access/runtime/access-gate.ts'
import { AGGREGATES } from '../../../domain/kinds.ts'

/** The right to read the events of a kind of streams. Any other kind needs `log.read`. */
const READS: ReadonlyMap<string, Right> = new Map([
  ['agent', 'bodies.read'],
  ['external', 'bodies.read'],
  ['document', 'documents.read'],
  ['memory', 'memories.read'],
  ['store', 'stores.read'],
])

/** The kinds of streams whose events a principal may read. Undefined: all. `identity` null: access is off. */
export function readableKinds(identity: Identity | null): ReadonlySet<string> | undefined {
  if (identity === null || identity.rights.has('log.read')) return undefined
  return new Set([...AGGREGATES.keys()].filter((kind) => identity.rights.has(READS.get(kind) ?? 'log.read')))
}

/**
 * Whether the streams of a kind contain the work of people and agents. Other kinds record the reading of it, so news about them
 * would cause more.
 */
export const isWork = (kind: string): boolean => READS.has(kind)
