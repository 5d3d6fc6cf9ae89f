/** A name may have one wrong letter for each 4 of its letters, and at most 2. */
const LETTERS_PER_SLIP = 4
const SLIPS = 2

/** Whether a word is a probable misspelling of a name. Names of fewer than 4 letters are too short to be misspelt. */
export function isNear(word: string, name: string): boolean {
  const slips = Math.min(SLIPS, Math.floor(name.length / LETTERS_PER_SLIP))
  return Math.abs(word.length - name.length) <= slips && distance(word, name) <= slips
}

/** Whether a word has all letters of a name, with two neighbours transposed. Names of any length count. */
export const isTransposed = (word: string, name: string): boolean =>
  distance(word, name) === 1 && [...word].sort().join('') === [...name].sort().join('')

/** The names that differ from a text by the fewest letters, nearest first. Equally near names keep their order. */
export const nearest = (text: string, names: readonly string[], most: number): string[] =>
  names.toSorted((a, b) => distance(text, a) - distance(text, b)).slice(0, most)

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
