import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { put, remove, set } from '../../../projections/agent/changes.ts'
import { type Change, clear } from '../../../projections/engine/changes/change.ts'
import { Collapsed } from '../../../projections/engine/changes/collapse.ts'
import type { Batch, Progress } from '../../../projections/engine/store/store.ts'
import { runs } from '../../support/projections/fc.ts'
import type { TablesKit } from '../../support/projections/kit.ts'

const at = (position: number): Progress => ({
  logId: 'log0',
  cursor: { logId: 'log0', position, hash: `h${position}` },
  events: position,
})

const batch = (changes: Collapsed): Batch => ({ streams: [], changes, events: [], erased: [], residues: [] })

const cell = fc.nat(3)
const key = cell.map((n) => ({ agent_id: 'a', tool_call_id: `c${n}` }))
const change: fc.Arbitrary<Change> = fc.oneof(
  fc
    .tuple(key, cell, cell)
    .map(([k, n, m]) => put('approvals', k, { requested_position: n }, { run_id: `r${m}`, status: `b${m}` })),
  fc.tuple(key, cell).map(([k, n]) => put('approvals', k, { status: `p${n}`, run_id: 'p' })),
  fc.tuple(key, cell).map(([k, n]) => set('approvals', k, { status: `s${n}` })),
  fc.tuple(key, cell).map(([k, n]) => set('approvals', k, { requested_position: 10 + n })),
  key.map((k) => remove('approvals', k)),
  fc.constant(clear('approvals')),
)

export function storeContract(kit: TablesKit): void {
  describe('changes collapsed per row', () => {
    it('do what they do one by one (law)', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.array(change, { maxLength: 8 }), { maxLength: 6 }), async (batches) => {
          const [a, b] = [await kit.fresh(), await kit.fresh()]
          const [together, single] = [await a.open(), await b.open()]
          let [position, singles] = [0, 0]
          for (const many of batches) {
            const all = new Collapsed()
            all.add('agent-a', many)
            await together.commit(position === 0 ? null : at(position), at(++position), batch(all))
            for (const each of many) {
              const one = new Collapsed()
              one.add('agent-a', [each])
              await single.commit(singles === 0 ? null : at(singles), at(++singles), batch(one))
            }
          }
          await together.close()
          await single.close()
          expect((await a.dump()).approvals).toEqual((await b.dump()).approvals)
        }),
        runs(kit.cases(30)),
      )
    })
  })

  describe('a commit', () => {
    it('keeps any text and any whole number as they are (law)', async () => {
      const text = fc.oneof(
        fc.string({ unit: 'binary' }).map((value) => value.replaceAll('\0', '')),
        fc.constantFrom(
          '',
          'null',
          'NULL',
          '{}',
          '"',
          '\\',
          '\\"',
          ',',
          "'",
          '\n\r\t',
          '{"a":"\\u0000"}',
          '\u{1f600}\u200d',
        ),
      )
      const row = fc.record({
        tool_call_id: text,
        run_id: text,
        status: text,
        reason: text,
        requested_position: fc.maxSafeInteger(),
      })
      const tables = await kit.fresh()
      const store = await tables.open()
      onTestFinished(() => store.close())
      let position = 0
      await fc.assert(
        fc.asyncProperty(fc.uniqueArray(row, { selector: ({ tool_call_id }) => tool_call_id }), async (rows) => {
          const changes = new Collapsed()
          changes.add('agent-a', [clear('approvals')])
          for (const { tool_call_id, ...columns } of rows)
            changes.add('agent-a', [put('approvals', { agent_id: 'a', tool_call_id }, columns)])
          await store.commit(position === 0 ? null : at(position), at(++position), batch(changes))
          const found = (await tables.dump()).approvals!
          const byBytes = rows.toSorted((x, y) =>
            Buffer.compare(Buffer.from(x.tool_call_id), Buffer.from(y.tool_call_id)),
          )
          expect(found).toHaveLength(rows.length)
          expect(found).toMatchObject(byBytes.map((one) => ({ agent_id: 'a', ...one })))
        }),
        runs(kit.cases(30)),
      )
    })

    it('is refused where the position has moved since, and leaves no row behind', async () => {
      const tables = await kit.fresh()
      const [one, two] = [await tables.open(), await tables.open()]
      onTestFinished(async () => {
        await one.close()
        await two.close()
      })
      const rows = (status: string) => {
        const changes = new Collapsed()
        changes.add('agent-a', [put('approvals', { agent_id: 'a', tool_call_id: status }, { run_id: 'r', status })])
        return batch(changes)
      }
      const taken = expect.objectContaining({ code: 'POSITION_TAKEN' })
      await one.commit(null, at(1), rows('first'))
      await expect(two.commit(null, at(1), rows('late'))).rejects.toEqual(taken)
      await one.commit(at(1), at(2), rows('second'))
      await expect(two.commit(at(1), at(3), rows('later'))).rejects.toEqual(taken)
      const dump = await tables.dump()
      expect(dump.approvals!.map((row) => row.status)).toEqual(['first', 'second'])
      expect(dump.position).toMatchObject([{ position: 2 }])
    })
  })
}
