/** The greatest size of the texts of a transaction or a statement (bytes), unless a single text is longer. */
export const PART_BYTES = 16 * 1024 * 1024

/** Items in parts of at most `limit` each, in order; one that alone weighs more is a part of its own. None: no part. */
export function* partsOf<T>(
  items: readonly T[],
  weigh: (item: T) => number,
  limit = PART_BYTES,
): Generator<readonly T[]> {
  let start = 0
  let sum = 0
  for (const [i, item] of items.entries()) {
    const weight = weigh(item)
    if (i > start && sum + weight > limit) {
      yield items.slice(start, i)
      start = i
      sum = 0
    }
    sum += weight
  }
  if (start < items.length) yield start === 0 ? items : items.slice(start)
}
