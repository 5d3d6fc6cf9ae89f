import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Change, clear, put, remove, set } from '../../projections/changes/change.ts'
import { Collapsed } from '../../projections/changes/collapse.ts'
import { openSqliteStore } from '../../projections/store/sqlite.ts'
import type { Progress } from '../../projections/store/store.ts'
import { runs } from '../support/projections/fc.ts'
import { dump, folder } from '../support/projections/tables.ts'

const at = (position: number): Progress => ({
  logId: 'log0',
  cursor: { logId: 'log0', position, hash: `h${position}` },
  events: position,
})

const cell = fc.nat(3)
const key = cell.map((n) => ({ agent_id: 'a', cause: `c${n}` }))
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.tuple(key, cell, cell).map(([k, n, m]) => put('due', k, { wake_at: n }, { run_id: `r${m}`, reason: `b${m}` })),
  fc.tuple(key, cell).map(([k, n]) => put('due', k, { reason: `p${n}`, run_id: 'p' })),
  fc.tuple(key, cell).map(([k, n]) => set('due', k, { reason: `s${n}` })),
  fc.tuple(key, cell).map(([k, n]) => set('due', k, { wake_at: 10 + n })),
  key.map((k) => remove('due', k)),
  fc.constant(clear('due')),
)

describe('changes collapsed per row', () => {
  it('do what they do one by one (law)', async () => {
    const path = folder()
    let n = 0
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(change, { maxLength: 8 }), { maxLength: 6 }), async (batches) => {
        const file = (name: string) => join(path, `${name}${n}.db`)
        n++
        const together = await openSqliteStore(file('together'))
        const single = await openSqliteStore(file('single'))
        let [position, singles] = [0, 0]
        for (const batch of batches) {
          const all = new Collapsed()
          all.add('a', batch)
          await together.commit(position === 0 ? null : at(position), at(++position), [], all)
          for (const each of batch) {
            const one = new Collapsed()
            one.add('a', [each])
            await single.commit(singles === 0 ? null : at(singles), at(++singles), [], one)
          }
        }
        await together.close()
        await single.close()
        expect(dump(file('together')).due).toEqual(dump(file('single')).due)
      }),
      runs(30),
    )
  })
})

describe('a commit', () => {
  it('is refused where the position has moved since, and leaves no row behind', async () => {
    const file = join(folder(), 't.db')
    const [one, two] = [await openSqliteStore(file), await openSqliteStore(file)]
    onTestFinished(async () => {
      await one.close()
      await two.close()
    })
    const rows = (reason: string) => {
      const changes = new Collapsed()
      changes.add('a', [put('due', { agent_id: 'a', cause: reason }, { run_id: 'r', wake_at: 1, reason })])
      return changes
    }
    const taken = expect.objectContaining({ code: 'POSITION_TAKEN' })
    await one.commit(null, at(1), [], rows('first'))
    await expect(two.commit(null, at(1), [], rows('late'))).rejects.toEqual(taken)
    await one.commit(at(1), at(2), [], rows('second'))
    await expect(two.commit(at(1), at(3), [], rows('later'))).rejects.toEqual(taken)
    expect(dump(file).due!.map((row) => row.reason)).toEqual(['first', 'second'])
    expect(dump(file).position).toMatchObject([{ position: 2 }])
  })
})
