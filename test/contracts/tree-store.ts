import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ReadHashes } from '../../adapters/sqlite/tree-store.ts'
import { appendLeaves, EMPTY_EDGE, eventLeaf } from '../../domain/log/proof/tree.ts'
import { TILE_WIDTH } from '../../domain/log/proof/tree-proof.ts'
import type { SignedHead, TreeGrowth, TreeLeaf, TreeStore } from '../../domain/ports/proof.ts'
import { StoredTiles } from '../../domain/proof/runtime/stored-tiles.ts'
import { StoredTree } from '../support/merkle.ts'

export interface TreeStoreFactory {
  readonly cases: number
  fresh(): Promise<{
    /** Opens the same store again at each call. `hashes`: reads the chain hashes of a log whose positions may have gaps. */
    open(hashes: ReadHashes): Promise<TreeStore>
    /** Runs SQL past the store. */
    alter(sql: string): Promise<unknown>
    /** SQL that moves leaf 0 to another position. */
    readonly move: string
  }>
}

/** The largest number of leaves of one growth. Two of them complete a tile. */
const MAX_LEAVES = 200

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** A log with events at given positions, its tree in memory, and the growths that a store gets. */
export class Plan {
  readonly tree = new StoredTree()
  readonly leaves: TreeLeaf[] = []
  readonly heads: SignedHead[] = []
  #position = 0

  readonly hashes: ReadHashes = async (from, to) =>
    this.leaves.filter(({ position }) => position >= from && position <= to).map(({ hash }) => hash)

  /** `gap`: the positions that no event has before the first new leaf. */
  growth({ count, gap, origin }: { count: number; gap: number; origin: string | null }): TreeGrowth {
    this.#position += gap
    const leaves = Array.from({ length: count }, (_, n): TreeLeaf => {
      this.#position += 1
      const hash = sha256(`${this.leaves.length + n}`)
      return { position: this.#position, stream: `agent-${n % 3}`, revision: n, hash }
    })
    this.leaves.push(...leaves)
    const hashes = this.tree.append(...leaves.map(({ hash }) => eventLeaf(hash))).filter(({ level }) => level > 0)
    const { position, hash } = this.leaves.at(-1)!
    const cursor = { logId: 'log', position, prepare: position, hash }
    const { edge } = this.tree
    const known = this.heads.some((head) => head.origin === origin && head.size === edge.size)
    const head =
      origin === null || known ? null : { origin, size: edge.size, note: `note ${this.heads.length}`, at: position }
    if (head !== null) this.heads.push(head)
    return { edge, cursor, leaves, hashes, head }
  }
}

const step = fc.record({
  count: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: MAX_LEAVES })),
  gap: fc.constantFrom(0, 0, 1, 700),
  origin: fc.constantFrom('a', 'b', null),
  reopen: fc.boolean(),
})

/** The promises of every TreeStore. */
export function treeStoreContract({ cases, fresh }: TreeStoreFactory): void {
  test('a store answers with the tree and the heads that it was given', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
        const plan = new Plan()
        const { open } = await fresh()
        let store = await open(plan.hashes)
        expect([await store.load(), await store.lastHead()]).toEqual([null, null])
        for (const { reopen, ...one } of steps) {
          const growth = plan.growth(one)
          await store.grow(growth)
          if (reopen) store = await open(plan.hashes)
          expect(await store.load()).toEqual({ edge: plain(growth.edge), cursor: growth.cursor })
        }
        const { size } = plan.tree.edge
        for (let level = 0; TILE_WIDTH ** level <= size; level += 1) {
          const count = Math.floor(size / TILE_WIDTH ** level)
          for (let index = 0; index * TILE_WIDTH < count; index += 1) {
            const width = Math.min(TILE_WIDTH, count - index * TILE_WIDTH)
            const rows = Array.from(
              { length: width },
              (_, n) => plan.tree.table.get(`${level}/${index * TILE_WIDTH + n}`)!,
            )
            expect(Buffer.compare(await store.tile({ level, index, width }), Buffer.concat(rows))).toBe(0)
          }
        }
        const all = new Map(plan.leaves.map(({ position }, leaf) => [position, leaf]))
        for (const position of [0, ...[...all.keys()].flatMap((one) => [one, one + 1]).slice(-40)])
          expect([position, await store.indexOf(position)]).toEqual([position, all.get(position) ?? null])
        const positions = plan.leaves.map(({ position }) => position)
        for (const [first, count] of [
          [0, size],
          [size >> 1, 3],
          [Math.max(0, size - 2), 2],
        ] as const)
          expect(await store.positions(first, count)).toEqual(positions.slice(first, first + count))
        const heads = await store.heads(0, 500)
        expect(heads.map(({ number: _, ...head }) => head)).toEqual(plan.heads)
        expect(await store.heads(heads[0]?.number ?? 0, 1)).toEqual(heads.slice(1, 2))
        for (const origin of ['a', 'b', undefined])
          expect(await store.lastHead(origin)).toEqual(
            plan.heads.findLast((head) => origin === undefined || head.origin === origin) ?? null,
          )
        await store.clear()
        expect([await store.load(), await store.indexOf(1), (await store.heads(0, 500)).length]).toEqual([
          ...[null, null],
          plan.heads.length,
        ])
      }),
      { numRuns: cases },
    )
  })

  test('of several writers that grow the same tree, one is taken; the others get TREE_MOVED and change nothing', async () => {
    const plan = new Plan()
    const { open } = await fresh()
    const [one, other] = [await open(plan.hashes), await open(plan.hashes)]
    const first = plan.growth({ count: 3, gap: 0, origin: 'a' })
    await one.grow(first)
    const next = plan.growth({ count: 254, gap: 2, origin: 'a' })
    const writers = [one, other, one, other].map((store, n) =>
      store.grow({ ...next, head: { ...next.head!, note: `note of ${n}` } }),
    )
    const done = await Promise.allSettled(writers)
    expect(done.filter(({ status }) => status === 'fulfilled').length).toBe(1)
    for (const end of done) if (end.status === 'rejected') expect(end.reason).toMatchObject({ code: 'TREE_MOVED' })
    const winner = done.findIndex(({ status }) => status === 'fulfilled')
    const heads = await other.heads(0, 9)
    expect(heads.map(({ note }) => note)).toEqual(['note 0', `note of ${winner}`])
    // A second head of the same size, with a tree that does not grow.
    const again = { ...next, leaves: [], hashes: [], head: { ...next.head!, note: 'another view' } }
    await expect(other.grow(again)).rejects.toMatchObject({ code: 'TREE_MOVED' })
    await other.grow({ ...again, head: null })
    for (const late of [next, { ...first, leaves: [], hashes: [] }])
      await expect(one.grow({ ...late, head: null })).rejects.toMatchObject({ code: 'TREE_MOVED' })
    expect(await one.load()).toEqual({ edge: plain(next.edge), cursor: next.cursor })
    expect([await one.heads(0, 9), (await one.tile({ level: 1, index: 0, width: 1 })).length]).toEqual([heads, 32])
  })

  test('hashes that were removed and positions that were changed are named', async () => {
    const faultsAfter = async (edit: (move: string) => string | null) => {
      const plan = new Plan()
      const { open, alter, move } = await fresh()
      const store = await open(plan.hashes)
      for (const gap of [0, 5]) await store.grow(plan.growth({ count: 300, gap, origin: 'a' }))
      const sql = edit(move)
      if (sql !== null) await alter(sql)
      const tiles = new StoredTiles(store, plan.tree.edge.size)
      let edge = EMPTY_EDGE
      for (const { position, hash } of plan.leaves) {
        const grown = appendLeaves(edge, [eventLeaf(hash)])
        edge = grown.edge
        await tiles.add(position, grown.completed)
      }
      await tiles.end()
      return tiles.faults
    }
    expect(await faultsAfter(() => null)).toEqual([])
    expect(await faultsAfter(() => 'delete from hashes where number = 1')).toEqual([
      'the stored hash 1 of level 1 is not the one of the log',
    ])
    expect(await faultsAfter((move) => move)).toEqual(
      expect.arrayContaining(['the stored position of leaf 0 is not the one of the log']),
    )
  })

  test('nobody changes or removes a signed head', async () => {
    const plan = new Plan()
    const { open, alter } = await fresh()
    const store = await open(plan.hashes)
    await store.grow(plan.growth({ count: 1, gap: 0, origin: 'a' }))
    for (const sql of ["update heads set note = 'forged'", 'delete from heads'])
      await expect(Promise.resolve().then(() => alter(sql))).rejects.toThrow('heads are final')
    expect((await store.heads(0, 9)).map(({ note }) => note)).toEqual(['note 0'])
  })

  test('the last failure of each subject is remembered until it works again', async () => {
    const { open } = await fresh()
    const store = await open(async () => [])
    await store.report('signer', { message: 'first', at: 1 })
    await store.report('signer', { message: 'second', at: 2 })
    await store.report('anchor:disk', { message: 'full', at: 3 })
    expect(new Map(await store.failures())).toEqual(
      new Map([
        ['signer', { message: 'second', at: 2 }],
        ['anchor:disk', { message: 'full', at: 3 }],
      ]),
    )
    await store.report('signer', null)
    await store.report('anchor:gone', null)
    expect([...(await store.failures()).keys()]).toEqual(['anchor:disk'])
  })
}

/** An edge with buffers, as the stores return it. */
const plain = ({ size, hashes }: TreeGrowth['edge']) => ({ size, hashes: hashes.map((hash) => Buffer.from(hash)) })
