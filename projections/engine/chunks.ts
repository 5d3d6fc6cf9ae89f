/** Maximum size of the texts in one transaction or statement, in bytes. A single longer text is allowed. */
export const PART_BYTES = 16 * 1024 * 1024

/** Splits items into parts of at most `limit` in total weight, in order. A heavier item is a separate part. */
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
