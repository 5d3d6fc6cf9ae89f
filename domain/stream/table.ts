/**
 * An immutable map. A change copies one bucket and the list of buckets, so folding n sets takes time proportional to n.
 */
export interface Table<V> {
  readonly size: number
  readonly buckets: readonly (ReadonlyMap<string, V> | undefined)[]
}

const BUCKETS = 128

export const EMPTY: Table<never> = { size: 0, buckets: [] }

export const entry = <V>(table: Table<V>, key: string): V | undefined => table.buckets[bucketOf(key)]?.get(key)

export const entries = <V>({ buckets }: Table<V>): V[] => buckets.flatMap((bucket) => [...(bucket?.values() ?? [])])

/** A table with the entry; `value` undefined: a table without it. */
export function withEntry<V>(table: Table<V>, key: string, value: V | undefined): Table<V> {
  const at = bucketOf(key)
  const bucket = new Map(table.buckets[at])
  const before = bucket.size
  if (value === undefined) bucket.delete(key)
  else bucket.set(key, value)
  const buckets = [...table.buckets]
  buckets[at] = bucket
  return { size: table.size + bucket.size - before, buckets }
}

function bucketOf(key: string): number {
  let sum = 0
  for (let at = 0; at < key.length; at++) sum = (Math.imul(sum, 31) + key.charCodeAt(at)) >>> 0
  return sum % BUCKETS
}
