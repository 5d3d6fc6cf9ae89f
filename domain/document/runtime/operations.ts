import type { OperationRange } from '../../ports/index.ts'

/** Finds the update that brought an operation: the first one in the stream that contains it. */
export class OperationOwners {
  /** Per peer, in stream order: operations up to `to` (exclusive) came with this revision or an earlier one. */
  readonly #peers = new Map<string, { readonly to: number; readonly revision: number }[]>()

  add(ranges: readonly OperationRange[], revision: number): void {
    for (const { peer, to } of ranges) {
      const known = this.#peers.get(peer)
      if (known === undefined) this.#peers.set(peer, [{ to, revision }])
      else if (to > known.at(-1)!.to) known.push({ to, revision })
    }
  }

  /** The revision, and up to which counter (exclusive) the peer's operations came with it; null: none contains it. */
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
