import type { DocumentBlock } from './block.ts'

/** The change of one block between two revisions. */
export type BlockChange =
  | { readonly change: 'added'; readonly after: DocumentBlock }
  | { readonly change: 'removed'; readonly before: DocumentBlock }
  /** `moved`: the block's place changed relative to the other blocks that both revisions contain. */
  | {
      readonly change: 'changed'
      readonly before: DocumentBlock
      readonly after: DocumentBlock
      readonly moved: boolean
    }

/** All changed blocks: first in the order of the later revision, then the removed blocks. */
export function blockChanges(
  before: readonly DocumentBlock[],
  after: readonly DocumentBlock[],
): readonly BlockChange[] {
  const places = new Map(before.map((block, place) => [block.id, place]))
  const known = after.filter(({ id }) => places.has(id))
  const stayed = new Set(longestIncreasing(known.map(({ id }) => places.get(id)!)).map((place) => before[place]!.id))
  const changes: BlockChange[] = []
  for (const block of after) {
    const place = places.get(block.id)
    if (place === undefined) changes.push({ change: 'added', after: block })
    else {
      const moved = !stayed.has(block.id)
      const earlier = before[place]!
      if (moved || JSON.stringify(earlier) !== JSON.stringify(block))
        changes.push({ change: 'changed', before: earlier, after: block, moved })
    }
  }
  const left = new Set(after.map(({ id }) => id))
  for (const block of before) if (!left.has(block.id)) changes.push({ change: 'removed', before: block })
  return changes
}

/** A longest increasing subsequence of distinct numbers. */
function longestIncreasing(numbers: readonly number[]): readonly number[] {
  /** For each length, the index of the smallest last number of an increasing subsequence. */
  const ends: number[] = []
  const previous: number[] = []
  numbers.forEach((value, i) => {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (numbers[ends[middle]!]! < value) low = middle + 1
      else high = middle
    }
    previous[i] = ends[low - 1] ?? -1
    ends[low] = i
  })
  const found: number[] = []
  for (let i = ends.at(-1) ?? -1; i >= 0; i = previous[i]!) found.push(numbers[i]!)
  return found.reverse()
}
