import { nodeHash } from './tree.ts'
import { type Range, split } from './tree-proof.ts'

// A tree of which some leaves are known. Its root follows from them and from the hashes of the largest subtrees (RFC
// 6962 §2.1) without a known leaf, from left to right.

/** The largest subtrees of a tree of `size` leaves in a range between known leaves, from left to right. */
export function unknownSubtrees([from, to]: Range, size: number): Range[] {
  const found: Range[] = []
  const visit = (start: number, end: number) => {
    if (start >= to || end <= from) return
    if (start >= from && end <= to) return void found.push([start, end])
    const middle = start + split(end - start)
    visit(start, middle)
    visit(middle, end)
  }
  visit(0, size)
  return found
}

export class PartialTree {
  /** Perfect subtrees of known leaves. */
  readonly #known: { readonly start: number; readonly end: number; readonly hash: Uint8Array }[] = []

  /** Adds a leaf after all earlier ones. */
  add(index: number, leaf: Uint8Array): void {
    let [start, hash] = [index, leaf]
    const end = index + 1
    for (let left = this.#known.at(-1); left?.end === start; left = this.#known.at(-1)) {
      const width = end - start
      if (start - left.start !== width || left.start % (2 * width) !== 0) break
      this.#known.pop()
      start = left.start
      hash = nodeHash(left.hash, hash)
    }
    this.#known.push({ start, end, hash })
  }

  /** The root of the tree with `size` leaves. `unknown`: the other hashes. Null: it has too few or too many of them. */
  root(size: number, unknown: Iterator<Uint8Array>): Uint8Array | null {
    let next = 0
    const rootOf = (start: number, end: number): Uint8Array | null => {
      const known = this.#known[next]
      if (known === undefined || known.start >= end) return unknown.next().value ?? null
      if (known.start === start && known.end === end) {
        next += 1
        return known.hash
      }
      if (end - start < 2) return null
      const middle = start + split(end - start)
      const left = rootOf(start, middle)
      const right = left && rootOf(middle, end)
      return left && right && nodeHash(left, right)
    }
    const root = rootOf(0, size)
    return next === this.#known.length && unknown.next().done ? root : null
  }
}
