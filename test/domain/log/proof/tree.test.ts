import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  appendLeaves,
  EMPTY_EDGE,
  edgeBytes,
  edgeRoot,
  eventLeaf,
  leafHash,
  nodeHash,
  parseEdge,
} from '../../../../domain/log/proof/tree.ts'
import {
  planConsistency,
  planInclusion,
  tilePath,
  verifyConsistency,
  verifyInclusion,
} from '../../../../domain/log/proof/tree-proof.ts'
import { flipped, naiveRoot, StoredTree } from '../../../support/merkle.ts'
import { property } from '../../../support/property.ts'

type Row = [number, number, number, number, number[], boolean, string]
const vectors: { hashes: string[]; inclusion: Row[]; consistency: Row[] } = JSON.parse(
  readFileSync(join(import.meta.dirname, 'merkle-proofs.gen.json'), 'utf8'),
)
const bytes = (n: number) => Buffer.from(vectors.hashes[n]!, 'base64')
const hex = (data: Uint8Array) => Buffer.from(data).toString('hex')

const DATA = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'].map(
  (text) => Buffer.from(text, 'hex'),
)
const ROOTS = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
]

describe('the vectors of transparency-dev/merkle', () => {
  test('hold for both verifiers', () => {
    expect([vectors.inclusion.length, vectors.consistency.length]).toEqual([98, 98])
    for (const [index, size, leaf, root, proof, valid, name] of vectors.inclusion)
      expect([name, verifyInclusion(index, size, bytes(leaf), proof.map(bytes), bytes(root))]).toEqual([name, valid])
    for (const [old, size, oldRoot, root, proof, valid, name] of vectors.consistency)
      expect([name, verifyConsistency(old, size, bytes(oldRoot), bytes(root), proof.map(bytes))]).toEqual([name, valid])
  })

  test('have our roots and proofs', () => {
    const tree = new StoredTree()
    const roots = [hex(edgeRoot(tree.edge))]
    for (const data of DATA) {
      tree.append(leafHash(data))
      roots.push(hex(edgeRoot(tree.edge)))
    }
    expect(roots).toEqual(ROOTS)
    expect(tree.inclusion(5).map(hex)).toEqual([
      'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
      'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
      ROOTS[4],
    ])
    expect(tree.consistency(6).map(hex)).toEqual([
      '0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a',
      'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
      ROOTS[4],
    ])
  })
})

test("an event's leaf is the leaf of the 32 bytes of its hash, and nothing else is a chain hash", () => {
  expect(eventLeaf(ROOTS[4]!)).toEqual(leafHash(Buffer.from(ROOTS[4]!, 'hex')))
  const hash = ROOTS[4]!
  for (const wrong of ['', 'ab', `${hash}00`, `zz${hash.slice(2)}`, hash.toUpperCase(), `${hash.slice(1)}\n`])
    expect(() => eventLeaf(wrong), wrong).toThrow('is no chain hash of 64 lower-case hex digits')
})

// Sizes around the borders of tiles and of perfect trees.
const size = fc.oneof(fc.nat(40), fc.integer({ min: 250, max: 262 }), fc.integer({ min: 506, max: 780 }))
const dataOf = (count: number) => Array.from({ length: count }, (_, n) => Buffer.from(`leaf ${n}`))
const roots = new Map<number, Uint8Array>()
const rootOf = (count: number): Uint8Array => roots.getOrInsertComputed(count, () => naiveRoot(dataOf(count)))
const GREAT = new StoredTree()
GREAT.append(...dataOf(66_000).map(leafHash))

describe('a tree', () => {
  test('has the root of the definition, however the leaves are appended and whenever it is stored and read again', () => {
    fc.assert(
      fc.property(size, fc.array(fc.nat(300), { maxLength: 6 }), (count, cuts) => {
        const data = dataOf(count)
        let edge = EMPTY_EDGE
        for (let at = 0, n = 0; at < count; n++) {
          const next = n < cuts.length ? Math.min(count, at + cuts[n]!) : count
          edge = parseEdge(edgeBytes(appendLeaves(edge, data.slice(at, next).map(leafHash)).edge))
          at = next
        }
        expect(edge.size).toBe(count)
        expect(hex(edgeRoot(edge))).toBe(hex(naiveRoot(data)))
      }),
      property(60),
    )
  })

  test('leaves the given edge unchanged, so that an append that failed can be repeated', () => {
    const { edge } = appendLeaves(EMPTY_EDGE, DATA.slice(0, 7).map(leafHash))
    const before = hex(edgeBytes(edge))
    appendLeaves(edge, DATA.map(leafHash))
    expect(hex(edgeBytes(edge))).toBe(before)
  })

  test('refuses a damaged edge', () => {
    const stored = edgeBytes(appendLeaves(EMPTY_EDGE, DATA.slice(0, 7).map(leafHash)).edge)
    for (const wrong of [stored.slice(1), stored.slice(0, -1), new Uint8Array(3), flipped(stored, 7 * 8 + 3)])
      expect(() => parseEdge(wrong)).toThrow('rebuild the tree from the log')
    expect(() => parseEdge(Buffer.alloc(8, 0xff))).toThrow('damaged')
  })

  test('proves each leaf of each size to the verifier', () => {
    for (let count = 1; count <= 70; count++) {
      const root = rootOf(count)
      for (let index = 0; index < count; index++) {
        const leaf = leafHash(Buffer.from(`leaf ${index}`))
        expect(verifyInclusion(index, count, leaf, GREAT.inclusion(index, count), root)).toBe(true)
      }
    }
  })

  test('has a proof of the greatest size from stored hashes, reading a few tiles', () => {
    const root = edgeRoot(GREAT.edge)
    for (const index of [0, 255, 256, 30_000, 65_535, 65_536, 65_999]) {
      GREAT.reads = 0
      const proof = GREAT.inclusion(index)
      expect(verifyInclusion(index, 66_000, leafHash(Buffer.from(`leaf ${index}`)), proof, root)).toBe(true)
      expect(GREAT.reads).toBeLessThanOrEqual(5 * 256)
    }
    expect(planInclusion(123_456, 1_000_000).tiles.length).toBeLessThanOrEqual(6)
    expect(planConsistency(123_456, 1_000_000).tiles.length).toBeLessThanOrEqual(6)
    expect(planInclusion(2 ** 45 + 1, 2 ** 52).tiles.length).toBeLessThanOrEqual(14)
  })

  test('begins with each of its prefixes', () => {
    const two = fc.tuple(size, size).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const)
    fc.assert(
      fc.property(two, ([old, count]) => {
        const [oldRoot, root] = [rootOf(old), rootOf(count)]
        const proof = GREAT.consistency(old, count)
        // No proof can be required from the empty tree.
        expect(verifyConsistency(old, count, oldRoot, root, proof)).toBe(old > 0)
        if (old === 0 || old === count) expect(proof).toEqual([])
      }),
      property(150),
    )
  })

  test('has no proof for a leaf, root, size, index or proof with one flipped bit', () => {
    const changes = ['leaf', 'root', 'proof', 'size', 'index', 'more', 'less'] as const
    fc.assert(
      fc.property(size, fc.nat(), fc.nat(), fc.constantFrom(...changes), (many, at, bit, change) => {
        const count = many + 2
        const index = at % count
        const right = {
          index,
          count,
          leaf: leafHash(Buffer.from(`leaf ${index}`)),
          proof: GREAT.inclusion(index, count),
        }
        const root = rootOf(count)
        const which = bit % right.proof.length
        const wrong = {
          leaf: { ...right, leaf: flipped(right.leaf, bit % 256) },
          root: { ...right, root: flipped(root, bit % 256) },
          proof: { ...right, proof: right.proof.with(which, flipped(right.proof[which]!, bit % 256)) },
          // Another size can have the same path, but then not the same root.
          size: { ...right, count: count ^ (1 << (bit % 12)), root: rootOf(count ^ (1 << (bit % 12))) },
          index: { ...right, index: index ^ (1 << (bit % 12)) },
          more: { ...right, proof: right.proof.toSpliced(which, 0, right.proof[which]!) },
          less: { ...right, proof: right.proof.toSpliced(which, 1) },
        }[change]
        const holds = (one: typeof right & { root?: Uint8Array }) =>
          verifyInclusion(one.index, one.count, one.leaf, one.proof, one.root ?? root)
        expect(holds(right)).toBe(true)
        expect(holds(wrong)).toBe(false)
      }),
      property(400),
    )
  })

  test('is not consistent where one bit of a root, a size or the proof is flipped', () => {
    const changes = ['old', 'size', 'oldRoot', 'root', 'proof', 'more', 'less'] as const
    fc.assert(
      fc.property(size, fc.nat(), fc.nat(), fc.constantFrom(...changes), (many, at, bit, change) => {
        const count = many + 2
        const old = 1 + (at % (count - 1))
        const right = {
          ...{
            old,
            count,
            oldRoot: rootOf(old),
            root: rootOf(count),
          },
          proof: GREAT.consistency(old, count),
        }
        const which = bit % right.proof.length
        const wrong = {
          old: { ...right, old: old ^ (1 << (bit % 12)) },
          size: { ...right, count: count ^ (1 << (bit % 12)), root: rootOf(count ^ (1 << (bit % 12))) },
          oldRoot: { ...right, oldRoot: flipped(right.oldRoot, bit % 256) },
          root: { ...right, root: flipped(right.root, bit % 256) },
          proof: { ...right, proof: right.proof.with(which, flipped(right.proof[which]!, bit % 256)) },
          more: { ...right, proof: right.proof.toSpliced(which, 0, right.proof[which]!) },
          less: { ...right, proof: right.proof.toSpliced(which, 1) },
        }[change]
        const holds = (one: typeof right) => verifyConsistency(one.old, one.count, one.oldRoot, one.root, one.proof)
        expect(holds(right)).toBe(true)
        expect(holds(wrong)).toBe(false)
      }),
      property(400),
    )
  })

  test('accepts no hash of another length', () => {
    // The concatenation of the children is also the data of no leaf: the first byte separates leaves from nodes.
    const [a, b] = [leafHash(DATA[0]!), leafHash(DATA[1]!)]
    expect(verifyInclusion(0, 2, a, [b], nodeHash(a, b))).toBe(true)
    expect(verifyInclusion(0, 2, a.subarray(1), [b], nodeHash(a, b))).toBe(false)
    expect(verifyInclusion(0, 2, a, [b.subarray(1)], nodeHash(a, b))).toBe(false)
    expect(leafHash(Buffer.concat([a, b]))).not.toEqual(nodeHash(a, b))
  })
})

test('a plan names what it cannot prove, and tiles that are not whole', () => {
  expect(() => planInclusion(3, 3)).toThrow('there is no leaf 3 in a tree of 3 leaves')
  expect(() => planConsistency(4, 3)).toThrow('a tree of 3 leaves does not begin with 4 leaves')
  expect(() => planInclusion(0, 3).build([new Uint8Array(64)])).toThrow('tile 0 of level 0 must have 3 hashes')
  expect(() => planInclusion(0, 3).build([])).toThrow('rebuild the tree from the log')
})

test('tiles have the paths of tlog-tiles', () => {
  expect(tilePath({ level: 0, index: 1234067, width: 256 })).toBe('tile/0/x001/x234/067')
  expect(tilePath({ level: 1, index: 0, width: 7 })).toBe('tile/1/000.p/7')
  expect(tilePath({ level: 2, index: 999, width: 256 })).toBe('tile/2/999')
  expect(tilePath({ level: 0, index: 1000, width: 255 })).toBe('tile/0/x001/000.p/255')
})
