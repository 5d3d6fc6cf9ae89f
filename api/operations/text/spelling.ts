/** One differing letter is accepted for each four letters of a name, and at most two. */
const LETTERS_PER_SLIP = 4
const SLIPS = 2

/**
 * Whether a variable is a misspelling of `known`: a different case, missing, added, changed or transposed letters, or a
 * suffix. Names as short as `KEEPUP_BY` have no misspellings.
 */
export function isNear(name: string, known: string): boolean {
  const said = name.toUpperCase()
  if (said.startsWith(`${known}_`)) return true
  const [a, b] = [bare(said), bare(known)]
  const slips = Math.min(SLIPS, Math.floor(b.length / LETTERS_PER_SLIP))
  return Math.abs(a.length - b.length) <= slips && distance(a, b) <= slips
}

const bare = (name: string): string => name.replace(/^KEEPUP_/, '').replaceAll('_', '')

/** The number of added, missing, changed or transposed letters. */
function distance(a: string, b: string): number {
  let [before, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      const crossed = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      row[j] = Math.min(
        last[j]! + 1,
        row[j - 1]! + 1,
        last[j - 1]! + (same ? 0 : 1),
        ...(crossed ? [before[j - 2]! + 1] : []),
      )
    }
    ;[before, last] = [last, row]
  }
  return last[b.length]!
}
