import { createHash } from 'node:crypto'
import { appendLeaves, EMPTY_EDGE, type StoredHash } from '../../domain/log/proof/tree.ts'
import { type ProofPlan, planConsistency, planInclusion } from '../../domain/log/proof/tree-proof.ts'

const sha256 = (...parts: readonly Uint8Array[]): Buffer => createHash('sha256').update(Buffer.concat(parts)).digest()

/** The root of leaf data as RFC 6962 §2.1 defines it. */
export function naiveRoot(data: readonly Uint8Array[]): Buffer {
  if (data.length === 0) return sha256()
  if (data.length === 1) return sha256(Buffer.of(0), data[0]!)
  let left = 1
  while (left * 2 < data.length) left *= 2
  return sha256(Buffer.of(1), naiveRoot(data.slice(0, left)), naiveRoot(data.slice(left)))
}

/** A tree of leaf hashes with the table of its stored hashes. */
export class StoredTree {
  edge = EMPTY_EDGE
  readonly table = new Map<string, Uint8Array>()
  /** The number of hashes that proofs read. */
  reads = 0

  append(...leaves: readonly Uint8Array[]): StoredHash[] {
    const { edge, completed } = appendLeaves(this.edge, leaves)
    this.edge = edge
    for (const { level, index, hash } of completed) {
      const row = `${level}/${index}`
      if (this.table.has(row)) throw new Error(`${row} is stored twice`)
      this.table.set(row, hash)
    }
    return completed
  }

  inclusion(index: number, size = this.edge.size): Uint8Array[] {
    return this.#build(planInclusion(index, size))
  }

  consistency(old: number, size = this.edge.size): Uint8Array[] {
    return this.#build(planConsistency(old, size))
  }

  #build(plan: ProofPlan): Uint8Array[] {
    return plan.build(
      plan.tiles.map(({ level, index, width }) => {
        this.reads += width
        return Buffer.concat(Array.from({ length: width }, (_, n) => this.table.get(`${level}/${index * 256 + n}`)!))
      }),
    )
  }
}

/** Flips one bit. */
export function flipped(bytes: Uint8Array, bit: number): Uint8Array {
  const copy = Uint8Array.from(bytes)
  copy[Math.floor(bit / 8) % copy.length]! ^= 1 << (bit % 8)
  return copy
}
