import { HASH_SIZE } from '../../../domain/log/proof/encoding.ts'
import { unknownSubtrees } from '../../../domain/log/proof/partial-tree.ts'
import { rangeRoot, TILE_HEIGHT } from '../../../domain/log/proof/tree.ts'
import { perfectRoot, type Range, subtrees, TILE_WIDTH } from '../../../domain/log/proof/tree-proof.ts'
import type { TreeStore } from '../../../domain/ports/proof.ts'

/**
 * The hashes of a head's tree between the events of a pack. The caller asks for ranges in order, so that only the last
 * tile of each level is needed again.
 */
export class MissingHashes {
  readonly #store: TreeStore
  readonly #size: number
  readonly #tiles = new Map<number, { readonly index: number; readonly hashes: Uint8Array }>()

  constructor(store: TreeStore, size: number) {
    this.#store = store
    this.#size = size
  }

  /** The hashes of the largest subtrees in a range between events, from left to right. */
  async of(range: Range): Promise<Uint8Array[]> {
    const found: Uint8Array[] = []
    for (const unknown of unknownSubtrees(range, this.#size)) {
      const parts: Uint8Array[] = []
      for (const subtree of subtrees(unknown)) parts.push(await this.#perfect(subtree))
      found.push(rangeRoot(parts))
    }
    return found
  }

  async #perfect({ height, index }: { height: number; index: number }): Promise<Uint8Array> {
    const width = 2 ** (height % TILE_HEIGHT)
    const first = index * width
    const hashes = await this.#tile(Math.floor(height / TILE_HEIGHT), Math.floor(first / TILE_WIDTH))
    return perfectRoot(hashes, first % TILE_WIDTH, (first % TILE_WIDTH) + width)
  }

  async #tile(level: number, index: number): Promise<Uint8Array> {
    const known = this.#tiles.get(level)
    if (known?.index === index) return known.hashes
    const width = Math.min(TILE_WIDTH, Math.floor(this.#size / TILE_WIDTH ** level) - index * TILE_WIDTH)
    const hashes = await this.#store.tile({ level, index, width })
    if (hashes.length !== width * HASH_SIZE)
      throw new Error(`tile ${index} of level ${level} must have ${width} hashes; run "keepup call rebuildProofTree"`)
    this.#tiles.set(level, { index, hashes })
    return hashes
  }
}
