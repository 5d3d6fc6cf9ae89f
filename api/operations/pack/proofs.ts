import { HASH_SIZE } from '../../../domain/log/proof/encoding.ts'
import { packedProofLine } from '../../../domain/log/proof/pack.ts'
import { nodeHash, rangeRoot, TILE_HEIGHT } from '../../../domain/log/proof/tree.ts'
import { inclusionRanges, type Range, subtrees, TILE_WIDTH } from '../../../domain/log/proof/tree-proof.ts'
import type { TreeStore } from '../../../domain/ports/proof.ts'

const MAX_CACHED = 100_000

/** Proofs of many events of one head. Events close to each other share most hashes, which are computed once. */
export class InclusionProofs {
  readonly #store: TreeStore
  readonly #size: number
  readonly #tiles = new Map<string, Promise<Uint8Array>>()
  readonly #nodes = new Map<string, Uint8Array>()

  constructor(store: TreeStore, size: number) {
    this.#store = store
    this.#size = size
  }

  /** The line of an event's proof. */
  async line(index: number): Promise<string> {
    const proof: Uint8Array[] = []
    for (const range of inclusionRanges(index, this.#size)) proof.push(await this.#root(range))
    return packedProofLine(index, proof)
  }

  async #root(range: Range): Promise<Uint8Array> {
    const parts: Uint8Array[] = []
    for (const { height, index } of subtrees(range)) parts.push(await this.#node(height, index))
    return parts.length === 1 ? parts[0]! : rangeRoot(parts)
  }

  async #node(height: number, index: number): Promise<Uint8Array> {
    const key = `${height}/${index}`
    const known = this.#nodes.get(key)
    if (known !== undefined) return known
    const found =
      height % TILE_HEIGHT === 0
        ? await this.#stored(height / TILE_HEIGHT, index)
        : nodeHash(await this.#node(height - 1, 2 * index), await this.#node(height - 1, 2 * index + 1))
    if (this.#nodes.size >= MAX_CACHED) this.#nodes.clear()
    this.#nodes.set(key, found)
    return found
  }

  async #stored(level: number, index: number): Promise<Uint8Array> {
    const number = Math.floor(index / TILE_WIDTH)
    const key = `${level}/${number}`
    let tile = this.#tiles.get(key)
    if (tile === undefined) {
      const width = Math.min(TILE_WIDTH, Math.floor(this.#size / TILE_WIDTH ** level) - number * TILE_WIDTH)
      tile = this.#store.tile({ level, index: number, width })
      if (this.#tiles.size >= MAX_CACHED / TILE_WIDTH) this.#tiles.clear()
      this.#tiles.set(key, tile)
    }
    const from = (index % TILE_WIDTH) * HASH_SIZE
    const hash = (await tile).slice(from, from + HASH_SIZE)
    if (hash.length !== HASH_SIZE)
      throw new Error(`tile ${number} of level ${level} misses the hash of ${index}; rebuild the tree from the log`)
    return hash
  }
}
