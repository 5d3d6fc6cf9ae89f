/** Letters that a name may differ in for each so many that it has, and at most. */
const LETTERS_PER_SLIP = 4
const SLIPS = 2

/**
 * Whether a variable was meant to be called `known`: another case, letters missing, added, changed or out of place, or
 * something more behind it. `KEEPUP_BY` and its like are too short to be misspelt.
 */
export function isNear(name: string, known: string): boolean {
  const said = name.toUpperCase()
  if (said.startsWith(`${known}_`)) return true
  const [a, b] = [bare(said), bare(known)]
  const slips = Math.min(SLIPS, Math.floor(b.length / LETTERS_PER_SLIP))
  return Math.abs(a.length - b.length) <= slips && distance(a, b) <= slips
}

const bare = (name: string): string => name.replace(/^KEEPUP_/, '').replaceAll('_', '')

/** How many letters were added, left out, changed, or changed places with the next one. */
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
