import { hash } from 'node:crypto'
import { echo } from '../issues.ts'
import { HASH_SIZE } from './encoding.ts'
import { malformed } from './proof-error.ts'

// The Merkle tree of RFC 6962 §2.1 with SHA-256. A leaf's data is the 32 raw bytes of an event's chain hash.

const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer')

// No function here awaits, so all share one buffer.
const scratch = Buffer.alloc(1 + 2 * HASH_SIZE)

/** The root of a tree without leaves. */
export const EMPTY_TREE_ROOT: Uint8Array = sha256(new Uint8Array())

/** `SHA-256(0x00 ‖ data)`. */
export const leafHash = (data: Uint8Array): Uint8Array => sha256(Buffer.concat([new Uint8Array(1), data]))

const CHAIN_HASH = /^[0-9a-f]{64}$/

/** The leaf hash of an event. `chainHash`: 64 hex digits in lower case. Throws `MALFORMED`. */
export function eventLeaf(chainHash: string): Uint8Array {
  if (!CHAIN_HASH.test(chainHash))
    throw malformed(`"${echo(chainHash)}" is no chain hash of 64 lower-case hex digits; pass the hash of an event`)
  scratch[0] = 0
  scratch.write(chainHash, 1, 'hex')
  return sha256(scratch.subarray(0, 1 + HASH_SIZE))
}

/** `SHA-256(0x01 ‖ left ‖ right)`. */
export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  scratch[0] = 1
  scratch.set(left, 1)
  scratch.set(right, 1 + HASH_SIZE)
  return sha256(scratch)
}

/**
 * The right edge of a tree: the roots of its perfect subtrees, largest first, one for each bit set in `size`. The edge
 * suffices to append leaves and to compute the root.
 */
export interface Edge {
  readonly size: number
  readonly hashes: readonly Uint8Array[]
}

export const EMPTY_EDGE: Edge = { size: 0, hashes: [] }

/** The levels of stored hashes are 8 tree levels apart, as in tlog-tiles: 256 hashes have one hash above them. */
export const TILE_HEIGHT = 8

/** A hash to store: the root of the leaves from `index · 256^level` up to `(index + 1) · 256^level`. */
export interface StoredHash {
  readonly level: number
  readonly index: number
  readonly hash: Uint8Array
}

/**
 * Appends leaf hashes. `completed`: the hashes that the new leaves complete, each exactly once over the life of a tree,
 * so that a table of them is only ever appended to. Level 0 are the leaf hashes themselves.
 */
export function appendLeaves(edge: Edge, leaves: readonly Uint8Array[]): { edge: Edge; completed: StoredHash[] } {
  const hashes = [...edge.hashes]
  const completed: StoredHash[] = []
  let { size } = edge
  for (const leaf of leaves) {
    completed.push({ level: 0, index: size, hash: leaf })
    let node = leaf
    let [index, height] = [size, 0]
    for (; index % 2 === 1; index = (index - 1) / 2) {
      node = nodeHash(hashes.pop()!, node)
      height += 1
      if (height % TILE_HEIGHT === 0)
        completed.push({ level: height / TILE_HEIGHT, index: (index - 1) / 2, hash: node })
    }
    hashes.push(node)
    size += 1
  }
  return { edge: { size, hashes }, completed }
}

/** The root of adjacent perfect subtrees, largest first. */
export const rangeRoot = (hashes: readonly Uint8Array[]): Uint8Array =>
  hashes.length === 0 ? EMPTY_TREE_ROOT : hashes.reduceRight((right, left) => nodeHash(left, right))

/** The root of a tree. */
export const edgeRoot = (edge: Edge): Uint8Array => rangeRoot(edge.hashes)

/** An edge as bytes for a table: the size (8 bytes, big-endian), then the hashes. */
export function edgeBytes({ size, hashes }: Edge): Uint8Array {
  const head = Buffer.alloc(8)
  head.writeBigUInt64BE(BigInt(size))
  return Buffer.concat([head, ...hashes])
}

/** Reads {@link edgeBytes}. Throws `MALFORMED`. */
export function parseEdge(bytes: Uint8Array): Edge {
  const buffer = Buffer.from(bytes)
  const size = buffer.length < 8 ? -1 : Number(buffer.readBigUInt64BE())
  if (!Number.isSafeInteger(size) || size < 0 || buffer.length !== 8 + HASH_SIZE * bitsSet(size))
    throw malformed('the stored edge of the tree is damaged; rebuild the tree from the log')
  const hashes = Array.from({ length: bitsSet(size) }, (_, n) =>
    buffer.subarray(8 + n * HASH_SIZE, 8 + (n + 1) * HASH_SIZE),
  )
  return { size, hashes }
}

const bitsSet = (n: number): number => n.toString(2).replaceAll('0', '').length
