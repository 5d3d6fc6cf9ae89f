import fc from 'fast-check'
import { expect, test } from 'vitest'
import { AGGREGATES } from '../../../../domain/kinds.ts'
import { ATTACHING } from '../../../../domain/log/proof/pack.ts'
import { PartialTree, unknownSubtrees } from '../../../../domain/log/proof/partial-tree.ts'
import { naiveRoot } from '../../../support/merkle.ts'
import { property } from '../../../support/property.ts'

test('the root follows from any leaves and the hashes between them, and from nothing less or more', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 300 }), fc.nat(), fc.nat(), (size, seed, at) => {
      const data = Array.from({ length: size }, (_, n) => Buffer.from(`${n}`))
      const known = data.map((_, n) => n).filter((n) => ((seed >> (n % 29)) + n * seed) % 3 === 0)
      const tree = () => {
        const made = new PartialTree()
        for (const n of known) made.add(n, naiveRoot([data[n]!]))
        return made
      }
      const ends = [-1, ...known, size]
      const unknown = ends
        .slice(1)
        .flatMap((end, n) => unknownSubtrees([ends[n]! + 1, end], size))
        .map(([from, to]) => naiveRoot(data.slice(from, to)))
      const root = naiveRoot(data)
      expect(tree().root(size, unknown.values())).toEqual(root)
      expect(tree().root(size, [...unknown, root].values())).toBeNull()
      if (unknown.length === 0) return
      expect(tree().root(size, unknown.toSpliced(at % unknown.length, 1).values())).not.toEqual(root)
      expect(tree().root(size, unknown.with(at % unknown.length, Buffer.alloc(32)).values())).not.toEqual(root)
    }),
    property(300),
  )
})

test('the verifier looks for the whole results of every type of event that can name one', () => {
  const types = [...AGGREGATES.values()].flatMap(({ attaching }) => [...(attaching ?? [])])
  expect(new Set(types)).toEqual(ATTACHING)
})
