import { equalBytes, HASH_SIZE } from '../../log/proof/encoding.ts'
import { ProofError } from '../../log/proof/proof-error.ts'
import { type Edge, edgeBytes, type StoredHash } from '../../log/proof/tree.ts'
import { TILE_WIDTH } from '../../log/proof/tree-proof.ts'
import type { TreeStore } from '../../ports/proof.ts'

/** Compares the hashes of a stored tree with those that the log gives. Keeps one tile of each level in memory. */
export class StoredTiles {
  /** The first stored hash of each tile that differs, as text. */
  readonly faults: string[] = []
  readonly #store: TreeStore
  readonly #levels: { index: number; hashes: Uint8Array[] }[] = []

  constructor(store: TreeStore) {
    this.#store = store
  }

  /** Takes the hashes that the next leaf completes. Returns a promise only if they complete a tile. */
  add(completed: readonly StoredHash[]): Promise<unknown> | null {
    const whole: Promise<void>[] = []
    for (const { level, hash } of completed) {
      if (level === 0 && this.#store.storesLeaves !== true) continue
      this.#levels[level] ??= { index: 0, hashes: [] }
      const tile = this.#levels[level]
      tile.hashes.push(hash)
      if (tile.hashes.length === TILE_WIDTH) whole.push(this.#compare(level, tile))
    }
    return whole.length === 0 ? null : Promise.all(whole)
  }

  async end(): Promise<void> {
    for (const [level, tile] of this.#levels.entries())
      if (tile !== undefined && tile.hashes.length > 0) await this.#compare(level, tile)
  }

  /** A tree that ends before the log has fewer hashes. */
  async #compare(level: number, tile: { index: number; hashes: Uint8Array[] }): Promise<void> {
    const { index, hashes } = tile
    tile.index += 1
    tile.hashes = []
    const stored = await this.#store.tile({ level, index, width: hashes.length })
    const differs = hashes
      .slice(0, stored.length / HASH_SIZE)
      .findIndex((hash, at) => !equalBytes(hash, stored.subarray(at * HASH_SIZE, (at + 1) * HASH_SIZE)))
    if (differs >= 0)
      this.faults.push(`the stored hash ${index * TILE_WIDTH + differs} of level ${level} is not the one of the log`)
  }
}

/** Whether the stored edge is the one of the log at its size, when the log has come to it. */
export class StoredEdge {
  isSound = true
  readonly #edge: Edge | null

  private constructor(edge: Edge | null) {
    this.#edge = edge
  }

  static async of(store: TreeStore): Promise<StoredEdge> {
    try {
      return new StoredEdge((await store.load())?.edge ?? null)
    } catch (error) {
      if (!(error instanceof ProofError)) throw error
      const damaged = new StoredEdge(null)
      damaged.isSound = false
      return damaged
    }
  }

  compare(edge: Edge): void {
    if (this.#edge?.size === edge.size) this.isSound = equalBytes(edgeBytes(this.#edge), edgeBytes(edge))
  }
}
