import { canonicalText } from '../../log/canonical.ts'
import type { Json } from '../../log/json.ts'
import type { CausalEntry } from './causal-history.ts'

/** An entry of one of two runs. `value` is present only if the runs differ. */
interface Said {
  readonly agentId: string
  readonly revision: number
  readonly value?: Json
}

/** A path in two runs, with each run's entry. Null: the run has no entry there. */
interface Place {
  readonly path: readonly string[]
  readonly kind: CausalEntry['kind']
  readonly same: boolean
  readonly a: Said | null
  readonly b: Said | null
}

/** Two runs beside each other. `common`: the number of places that both have with the same content. */
export interface Comparison {
  readonly common: number
  /** The first difference by cause; null: none. */
  readonly first: Place | null
  /** All places, causes before their consequences. */
  readonly places: readonly Place[]
}

/**
 * Aligns two runs by cause: the same turn, call and child. The order in which parallel calls and children ended is
 * ignored. Linear in the number of entries, except for sorting. Runs in steps, because runs may be long.
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

/** Sorts entries with equal keys by path, so that the result does not depend on the run. */
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
