import { describe, expect, it } from 'vitest'
import { costBy } from '../../../projections/agent/queries/cost.ts'
import { family } from '../../support/projections/family.ts'
import { projected, type TablesKit } from '../../support/projections/kit.ts'

/** The cost of model calls, in every database. */
export function costContract(kit: TablesKit): void {
  describe(`costs (${kit.name})`, () => {
    it('are summed by model, role, day and tool, and every call once in all', async () => {
      const { log, root } = family()
      const tables = await kit.fresh()
      await projected(log, tables)
      const calls = await tables.db.selectFrom('model_calls').selectAll().execute()
      const sum = calls.reduce((all, { nano_dollars: nano }) => all + Number(nano ?? 0), 0)
      for (const by of ['model', 'role', 'day', 'day_model'] as const) {
        const { rows, total } = await costBy(tables.db, by, {})
        expect(total).toMatchObject({ calls: calls.length, nanoDollars: sum })
        expect(rows.reduce((all, row) => all + row.sum.nanoDollars, 0)).toBe(sum)
        expect(rows.reduce((all, row) => all + row.sum.calls, 0)).toBe(calls.length)
      }
      const byBoth = await costBy(tables.db, 'day_model', {})
      const pairs = calls.map((one) => `${(one.ended_at ?? one.started_at ?? '').slice(0, 10)} ${one.model}`)
      expect(byBoth.rows.map(({ name }) => name)).toEqual([...new Set(pairs)].sort())
      const byTool = await costBy(tables.db, 'tool', {})
      const cost = (tool: string) => byTool.rows.find(({ name }) => name === tool)?.sum.nanoDollars
      const turns = async (tool: string) => {
        const called = await tables.db
          .selectFrom('tool_calls')
          .select(['agent_id', 'turn'])
          .where('tool_name', '=', tool)
          .execute()
        const keys = new Set(called.map(({ agent_id: id, turn }) => `${id} ${turn}`))
        return calls
          .filter(({ agent_id: id, turn }) => keys.has(`${id} ${turn}`))
          .reduce((all, { nano_dollars: nano }) => all + Number(nano ?? 0), 0)
      }
      // One turn called both: it counts in full for each.
      expect(cost('read_file')).toBe(await turns('read_file'))
      expect(cost('run_command')).toBe(await turns('run_command'))
      expect(cost('run_command')).toBeGreaterThan(0)
      expect(byTool.total.nanoDollars).toBe(sum)
      const own = await costBy(tables.db, 'model', { runId: root.id })
      expect(own.total.nanoDollars).toBeLessThanOrEqual(sum)
      const ends = calls.map(({ ended_at: end, started_at: start }) => end ?? start ?? '').sort()
      const late = await costBy(tables.db, 'model', { since: ends.at(-1)! })
      expect(late.total.calls).toBe(ends.filter((at) => at === ends.at(-1)).length)
      expect((await costBy(tables.db, 'tool', { since: '9999' })).rows).toEqual([])
      expect((await costBy(tables.db, 'tool', { since: '9999' })).total).toMatchObject({ calls: 0, nanoDollars: 0 })
    })
  })
}
