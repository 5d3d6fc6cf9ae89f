/** How many items two lists have in common at their beginnings (`head`) and at their ends (`tail`). Compares by identity. */
export function commonEnds<T>(a: readonly T[], b: readonly T[]): { readonly head: number; readonly tail: number } {
  const shorter = Math.min(a.length, b.length)
  let head = 0
  while (head < shorter && a[head] === b[head]) head += 1
  let tail = 0
  while (tail < shorter - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1
  return { head, tail }
}
