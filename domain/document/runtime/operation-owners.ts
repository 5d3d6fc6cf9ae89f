import type { OperationRange } from '../../ports/index.ts'

/** Finds the update of an operation: the first one in the stream that contains it. */
export class OperationOwners {
  /** Per peer, in stream order: this revision or an earlier one added the operations up to `to` (exclusive). */
  readonly #peers = new Map<string, { readonly to: number; readonly revision: number }[]>()

  add(ranges: readonly OperationRange[], revision: number): void {
    for (const { peer, to } of ranges) {
      const known = this.#peers.get(peer)
      if (known === undefined) this.#peers.set(peer, [{ to, revision }])
      else if (to > known.at(-1)!.to) known.push({ to, revision })
    }
  }

  /**
   * The revision that added an operation, and the end (exclusive) of the peer's operations in it. Null: no update
   * contains the operation.
   */
  of(peer: string, counter: number): { readonly to: number; readonly revision: number } | null {
    const known = this.#peers.get(peer) ?? []
    let [low, high] = [0, known.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (known[middle]!.to <= counter) low = middle + 1
      else high = middle
    }
    return known[low] ?? null
  }
}
