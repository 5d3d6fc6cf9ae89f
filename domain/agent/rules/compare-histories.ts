import { canonicalText } from '../../log/canonical.ts'
import type { Json } from '../../log/json.ts'
import type { CausalEntry } from './causal-history.ts'

/** The entry of one of two runs at a place. `value` only where the two differ. */
export interface Said {
  readonly agentId: string
  readonly revision: number
  readonly value?: Json
}

/** A place in two runs: what was asked, answered or decided there. Null: the run has nothing there. */
export interface Place {
  readonly path: readonly string[]
  readonly kind: CausalEntry['kind']
  readonly same: boolean
  readonly a: Said | null
  readonly b: Said | null
}

/** Two runs beside each other. */
export interface Comparison {
  /** How many places are the same before the first difference. */
  readonly common: number
  /** The first difference, by cause; null: there is none. */
  readonly first: Place | null
  /** All places, causes before what follows from them. */
  readonly places: readonly Place[]
}

/**
 * Aligns two runs by cause: the same turn, the same call, the same child. The order in which parallel calls and children
 * ended plays no part. Linear in their length, but for sorting; in steps, since they may be long.
 */
export function* compareHistories(
  a: readonly CausalEntry[],
  b: readonly CausalEntry[],
): Generator<undefined, Comparison> {
  const inA = byPath(a)
  yield
  const inB = byPath(b)
  yield
  const all = [...new Map([...inB, ...inA])].sort(([, x], [, y]) => inOrder(x, y))
  const places: Place[] = []
  for (const [key, { path, kind }] of all) {
    yield
    places.push(placeOf(path, kind, inA.get(key), inB.get(key)))
  }
  const first = places.findIndex(({ same }) => !same)
  return { common: first < 0 ? places.length : first, first: places[first] ?? null, places }
}

const byPath = (entries: readonly CausalEntry[]) =>
  new Map(entries.map((entry) => [entry.path.join('\u0000'), entry] as const))

/** Places of equal rank are those of different names: by name, so that the order does not depend on the run. */
function inOrder({ order: a, path: p }: CausalEntry, { order: b, path: q }: CausalEntry): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) if (a[i] !== b[i]) return a[i]! - b[i]!
  return a.length - b.length || (p.join() < q.join() ? -1 : 1)
}

function placeOf(
  path: Place['path'],
  kind: Place['kind'],
  a: CausalEntry | undefined,
  b: CausalEntry | undefined,
): Place {
  const same = a !== undefined && b !== undefined && canonicalText(a.value) === canonicalText(b.value)
  const said = (entry: CausalEntry | undefined): Said | null =>
    entry === undefined ? null : { ...entry.at, ...(same ? {} : { value: entry.value }) }
  return { path, kind, same, a: said(a), b: said(b) }
}
