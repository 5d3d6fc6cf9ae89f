import { equalBytes, HASH_SIZE } from '../../log/proof/encoding.ts'
import { ProofError } from '../../log/proof/proof-error.ts'
import { type Edge, edgeBytes, type StoredHash } from '../../log/proof/tree.ts'
import { TILE_WIDTH } from '../../log/proof/tree-proof.ts'
import type { TreeStore } from '../../ports/proof.ts'

/**
 * Compares the hashes and positions of a stored tree with those that the log gives. Keeps one tile of each level in
 * memory.
 */
export class StoredTiles {
  /** The first stored hash or position of each tile that is missing or differs, as text. */
  readonly faults: string[] = []
  readonly #store: TreeStore
  readonly #size: number
  readonly #levels: { index: number; hashes: Uint8Array[] }[] = []
  /** The first leaf whose position is not compared yet, and the positions from there on. */
  #first = 0
  #positions: number[] = []

  /** `size`: the number of leaves in the stored tree. */
  constructor(store: TreeStore, size: number) {
    this.#store = store
    this.#size = size
  }

  /** Takes the next leaf and the hashes that it completes. Returns a promise only if they complete a tile. */
  add(position: number, completed: readonly StoredHash[]): Promise<unknown> | null {
    const whole: Promise<void>[] = []
    this.#positions.push(position)
    if (this.#positions.length === TILE_WIDTH) whole.push(this.#comparePositions())
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
    await this.#comparePositions()
    for (const [level, tile] of this.#levels.entries())
      if (tile !== undefined && tile.hashes.length > 0) await this.#compare(level, tile)
  }

  /** A tree that ends before the log has fewer leaves. */
  async #comparePositions(): Promise<void> {
    const first = this.#first
    const positions = this.#positions.slice(0, Math.max(0, this.#size - first))
    this.#first += this.#positions.length
    this.#positions = []
    if (positions.length === 0) return
    const stored = await this.#store.positions(first, positions.length)
    const differs = positions.findIndex((position, at) => position !== stored[at])
    if (differs >= 0) this.faults.push(`the stored position of leaf ${first + differs} is not the one of the log`)
  }

  async #compare(level: number, tile: { index: number; hashes: Uint8Array[] }): Promise<void> {
    const { index, hashes } = tile
    tile.index += 1
    tile.hashes = []
    const stored = await this.#store.tile({ level, index, width: hashes.length })
    const count = Math.floor(this.#size / TILE_WIDTH ** level) - index * TILE_WIDTH
    const differs = hashes
      .slice(0, Math.max(0, count))
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

  /** Whether no tree is stored, before and after the log was read. A tree that another process rebuilds at this time is not missing. */
  async isMissing(store: TreeStore): Promise<boolean> {
    return this.isSound && this.#edge === null && (await store.load()) === null
  }

  /** The number of leaves in the stored tree, as far as the edge can be read. */
  get size(): number {
    return this.#edge?.size ?? 0
  }

  compare(edge: Edge): void {
    if (this.#edge?.size === edge.size) this.isSound = equalBytes(edgeBytes(this.#edge), edgeBytes(edge))
  }
}
