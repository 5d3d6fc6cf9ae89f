import type { NoteSigner } from '../../../domain/log/proof/note.ts'
import { eventLeaf } from '../../../domain/log/proof/tree.ts'
import { TILE_WIDTH } from '../../../domain/log/proof/tree-proof.ts'
import type {
  SignedHead,
  SigningKeys,
  StoredTree,
  TreeGrowth,
  TreeLeaf,
  TreeStore,
} from '../../../domain/ports/proof.ts'
import { treeMoved } from '../../../domain/proof/errors.ts'

/** What a tree store keeps. A copy of it is a backup. */
export interface TreeContent {
  tree: StoredTree | null
  readonly hashes: Map<string, Uint8Array>
  readonly leaves: Pick<TreeLeaf, 'position' | 'hash'>[]
  readonly heads: SignedHead[]
}

export const noTree = (): TreeContent => ({ tree: null, hashes: new Map(), leaves: [], heads: [] })

export const copyOf = ({ tree, hashes, leaves, heads }: TreeContent): TreeContent => ({
  tree,
  hashes: new Map(hashes),
  leaves: [...leaves],
  heads: [...heads],
})

/** A {@link TreeStore} in memory. It stores the leaves, as the store of a log on servers does. */
export function memoryTree(kept: TreeContent): TreeStore {
  return {
    storesLeaves: true,
    load: async () => kept.tree,
    async grow({ edge, cursor, hashes, leaves, head }: TreeGrowth) {
      const isKnown = kept.heads.some((one) => one.origin === head?.origin && one.size === head.size)
      if ((kept.tree?.edge.size ?? 0) !== edge.size - leaves.length || isKnown) throw treeMoved()
      kept.tree = { edge, cursor }
      for (const { level, index, hash } of hashes) kept.hashes.set(`${level}/${index}`, hash)
      kept.leaves.push(...leaves)
      if (head !== null) kept.heads.push(head)
    },
    async tile({ level, index, width }) {
      const first = index * TILE_WIDTH
      if (level === 0) return Buffer.concat(kept.leaves.slice(first, first + width).map(({ hash }) => eventLeaf(hash)))
      return Buffer.concat(
        Array.from({ length: width }, (_, at) => kept.hashes.get(`${level}/${first + at}`) ?? new Uint8Array()),
      )
    },
    positions: async (first, count) => kept.leaves.slice(first, first + count).map(({ position }) => position),
    async indexOf(position) {
      const index = kept.leaves.findIndex((leaf) => leaf.position === position)
      return index < 0 ? null : index
    },
    lastHead: async (origin) => kept.heads.findLast((head) => origin === undefined || head.origin === origin) ?? null,
    heads: async (after, limit) =>
      kept.heads.map((head, at) => ({ ...head, number: at + 1 })).slice(after, after + limit),
    async clear() {
      kept.tree = null
      kept.hashes.clear()
      kept.leaves.length = 0
    },
    report: async () => undefined,
    failures: async () => new Map(),
  }
}

/** Signing keys in memory, the newest first. */
export function memoryKeys(kept: NoteSigner[]): SigningKeys {
  return { read: async () => [...kept], add: async (key) => void kept.unshift(key) }
}
