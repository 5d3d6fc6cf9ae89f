import { equalBytes, HASH_SIZE } from './encoding.ts'
import { malformed } from './proof-error.ts'
import { nodeHash, rangeRoot, TILE_HEIGHT } from './tree.ts'

// Proofs of RFC 6962 §2.1.1 and §2.1.2. The caller reads the tiles that a plan names and passes them to the plan.

/** Up to 256 adjacent hashes of one level, the first at `256 · index`. The last tile of a level can be narrower. */
export interface Tile {
  readonly level: number
  readonly index: number
  readonly width: number
}

export const TILE_WIDTH = 2 ** TILE_HEIGHT

/** The path of a tile below the prefix of a tlog-tiles log. */
export function tilePath({ level, index, width }: Tile): string {
  const digits = String(index)
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/\d{3}/g)!
  const path = groups.map((group, at) => (at === groups.length - 1 ? group : `x${group}`)).join('/')
  return `tile/${level}/${path}${width === TILE_WIDTH ? '' : `.p/${width}`}`
}

/** A proof whose hashes are still to be read. */
export interface ProofPlan {
  /** The tiles to read: at most two of each level, six in a log of 1,000,000 leaves. */
  readonly tiles: readonly Tile[]
  /** Builds the proof. `read`: the bytes of each tile of `tiles`, in that order, `32 · width` each. */
  build(read: readonly Uint8Array[]): Uint8Array[]
}

/** Plans the proof that leaf `index` is in the tree of `size` leaves. */
export function planInclusion(index: number, size: number): ProofPlan {
  return plan(inclusionRanges(index, size), size)
}

/** Leaves from the first index up to the second, exclusive. */
export type Range = readonly [start: number, end: number]

/** The ranges whose roots are the proof that leaf `index` is in the tree of `size` leaves, in the order of the proof. */
function inclusionRanges(index: number, size: number): readonly Range[] {
  if (!isCount(index) || !isCount(size) || index >= size)
    throw new RangeError(`there is no leaf ${index} in a tree of ${size} leaves; prove an index below the size`)
  const ranges: Range[] = []
  let [start, end] = [0, size]
  while (end - start > 1) {
    const middle = start + split(end - start)
    if (index < middle) {
      ranges.push([middle, end])
      end = middle
    } else {
      ranges.push([start, middle])
      start = middle
    }
  }
  return ranges.reverse()
}

/** Plans the proof that the tree of `size` leaves begins with the tree of `old` leaves. Empty when `old` is 0. */
export function planConsistency(old: number, size: number): ProofPlan {
  if (!isCount(old) || !isCount(size) || old > size)
    throw new RangeError(`a tree of ${size} leaves does not begin with ${old} leaves; swap the sizes`)
  const ranges: Range[] = []
  let [start, end] = [0, size]
  while (old > start && old < end) {
    const middle = start + split(end - start)
    if (old <= middle) {
      ranges.push([middle, end])
      end = middle
    } else {
      ranges.push([start, middle])
      start = middle
    }
  }
  // The root of the old tree is known when the old tree is one perfect subtree.
  if (start > 0) ranges.push([start, end])
  return plan(ranges.reverse(), size)
}

/** Plans the hashes of the edge of the first `old` leaves in the tree of `size` leaves. */
export function planEdge(old: number, size: number): ProofPlan {
  const whole = subtrees([0, old]).map(({ height, index }): Range => [index * 2 ** height, (index + 1) * 2 ** height])
  return plan(whole, size)
}

/** Whether a proof places the leaf hash at `index` of the tree with this size and root (RFC 9162 §2.1.3.2). */
export function verifyInclusion(
  index: number,
  size: number,
  leaf: Uint8Array,
  proof: readonly Uint8Array[],
  root: Uint8Array,
): boolean {
  if (!isCount(index) || !isCount(size) || index >= size || ![leaf, root, ...proof].every(isHash)) return false
  let [node, last, hash] = [index, size - 1, leaf]
  for (const sibling of proof) {
    if (last === 0) return false
    if (isOdd(node) || node === last) {
      hash = nodeHash(sibling, hash)
      for (; node > 0 && !isOdd(node); node = half(node)) last = half(last)
    } else hash = nodeHash(hash, sibling)
    node = half(node)
    last = half(last)
  }
  return last === 0 && equalBytes(hash, root)
}

/**
 * Whether a proof shows that the tree of `size` leaves begins with the tree of `old` leaves (RFC 9162 §2.1.4.2). False
 * for `old` = 0, because every tree begins with the empty one and no proof can say more.
 */
export function verifyConsistency(
  old: number,
  size: number,
  oldRoot: Uint8Array,
  root: Uint8Array,
  proof: readonly Uint8Array[],
): boolean {
  if (!isCount(old) || !isCount(size) || old === 0 || old > size) return false
  if (old === size) return proof.length === 0 && equalBytes(oldRoot, root)
  if (proof.length === 0 || ![oldRoot, root, ...proof].every(isHash)) return false
  let [node, last] = [old - 1, size - 1]
  for (; isOdd(node); node = half(node)) last = half(last)
  const [first, ...rest] = node === 0 ? [oldRoot, ...proof] : proof
  let [oldHash, hash] = [first!, first!]
  for (const sibling of rest) {
    if (last === 0) return false
    if (isOdd(node) || node === last) {
      oldHash = nodeHash(sibling, oldHash)
      hash = nodeHash(sibling, hash)
      for (; node > 0 && !isOdd(node); node = half(node)) last = half(last)
    } else hash = nodeHash(hash, sibling)
    node = half(node)
    last = half(last)
  }
  return last === 0 && equalBytes(oldHash, oldRoot) && equalBytes(hash, root)
}

// Bit operators of JavaScript have 32 bits.
const half = (n: number): number => Math.floor(n / 2)
const isOdd = (n: number): boolean => n % 2 === 1
const isCount = (n: number): boolean => Number.isSafeInteger(n) && n >= 0
const isHash = (bytes: Uint8Array): boolean => bytes.length === HASH_SIZE

/** The largest power of two below `n`. */
export function split(n: number): number {
  let power = 1
  while (power * 2 < n) power *= 2
  return power
}

/** The perfect subtrees of a range, largest first, as heights and indexes. */
export function subtrees([start, end]: Range): { height: number; index: number }[] {
  const found = []
  for (let at = start; at < end; ) {
    let height = 0
    while (at % 2 ** (height + 1) === 0 && at + 2 ** (height + 1) <= end) height += 1
    found.push({ height, index: at / 2 ** height })
    at += 2 ** height
  }
  return found
}

function plan(ranges: readonly Range[], size: number): ProofPlan {
  const tiles: Tile[] = []
  const parts = ranges.map((range) => subtrees(range).map((subtree) => place(subtree, size, tiles)))
  return {
    tiles,
    build(read) {
      for (const [at, { level, index, width }] of tiles.entries())
        if (read[at]?.length !== width * HASH_SIZE)
          throw malformed(`tile ${index} of level ${level} must have ${width} hashes; rebuild the tree from the log`)
      return parts.map((places) =>
        rangeRoot(places.map(({ tile, from, count }) => perfectRoot(read[tile]!, from, from + count))),
      )
    },
  }
}

/** Finds a subtree in the tiles: `count` hashes from `from` in tile number `tile` of the list. Adds a missing tile. */
function place({ height, index }: { height: number; index: number }, size: number, tiles: Tile[]) {
  const level = Math.floor(height / TILE_HEIGHT)
  const count = 2 ** (height % TILE_HEIGHT)
  const first = index * count
  const number = Math.floor(first / TILE_WIDTH)
  let tile = tiles.findIndex((one) => one.level === level && one.index === number)
  if (tile < 0) {
    const complete = Math.floor(size / TILE_WIDTH ** level)
    const width = Math.min(TILE_WIDTH, complete - number * TILE_WIDTH)
    tile = tiles.push({ level, index: number, width }) - 1
  }
  return { tile, from: first % TILE_WIDTH, count }
}

/** The root of the hashes `from` to `to` (exclusive) of a tile. Their number is a power of two. */
export function perfectRoot(hashes: Uint8Array, from: number, to: number): Uint8Array {
  if (to - from === 1) return hashes.subarray(from * HASH_SIZE, to * HASH_SIZE)
  const middle = (from + to) / 2
  return nodeHash(perfectRoot(hashes, from, middle), perfectRoot(hashes, middle, to))
}
