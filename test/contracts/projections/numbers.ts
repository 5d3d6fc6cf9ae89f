import { describe, expect, it } from 'vitest'
import { put } from '../../../projections/agent/changes.ts'
import { numbersOf } from '../../../projections/agent/queries/numbers/index.ts'
import { Collapsed } from '../../../projections/engine/changes/collapse.ts'
import { selectStreams } from '../../../projections/engine/queries/streams.ts'
import { family } from '../../support/projections/family.ts'
import { projected, type TablesKit } from '../../support/projections/kit.ts'

/** The least value that so many percent of some values do not exceed. */
const nearest = (values: readonly number[], percent: number) =>
  [...values].sort((a, b) => a - b)[Math.ceil((percent / 100) * values.length) - 1] ?? null

/** Figures of calls and runs, in every database. */
export function numbersContract(kit: TablesKit): void {
  describe(`numbers (${kit.name})`, () => {
    it('count calls and their failures by name and day, and give the nearest rank of their times', async () => {
      const { log } = family()
      const tables = await kit.fresh()
      const { store } = await projected(log, tables)
      const call = (n: number, status: string, ms: number | null, code: string | null = null) => ({
        ...{
          agent_id: 'r1',
          id: `r1.t9.c${n}`,
          run_id: 'r1',
          turn: 9,
          tool_name: 'probe',
          status,
          duration_ms: ms,
          code,
        },
        ...{ ran: 1, requested_revision: 90 + n, ended_at: `2031-01-0${1 + (n % 2)}T00:00:00.000Z`, erased: 0 },
      })
      const times = [5, 80, 12, 7, 300, 41, 9]
      const made = [
        ...times.map((ms, n) => call(n, ms > 50 ? 'failed' : 'succeeded', ms, ms > 50 ? 'TIMEOUT' : null)),
        // A refused call never ran, so its 0 ms is no duration.
        { ...call(7, 'failed', 0, 'PERMISSION_DENIED'), ran: 0 },
        { ...call(8, 'succeeded', 1), tool_name: 'other' },
        // Of a fork's prefix: its source has it.
        { ...call(9, 'succeeded', 9_999), requested_revision: null },
      ]
      const changes = made.map(({ agent_id, id, ...columns }) => put('tool_calls', { agent_id, id }, columns))
      const before = (await store.progress())!
      const changed = new Collapsed()
      changed.add('agent-r1', changes)
      const none = { streams: [], events: [], erased: [], residues: [] }
      await store.commit(before, { ...before, events: before.events + 1 }, { ...none, changes: changed })
      const found = await numbersOf(tables.db, { since: '2031' })
      expect(found.tools).toEqual([
        { name: 'other', calls: 1, failed: 0, p50: 1, p95: 1, p99: 1, most: 1 },
        {
          ...{ name: 'probe', calls: 8, failed: 3, most: 300 },
          ...{ p50: nearest(times, 50), p95: nearest(times, 95), p99: nearest(times, 99) },
        },
      ])
      expect(found.toolFailures).toEqual([
        { name: 'probe', code: 'TIMEOUT', count: 2 },
        { name: 'probe', code: 'PERMISSION_DENIED', count: 1 },
      ])
      expect(found.toolDays.map(({ name, calls }) => [name, calls])).toEqual([
        ['2031-01-01', 5],
        ['2031-01-02', 4],
      ])
      expect((await numbersOf(tables.db, { runId: 'r2' })).tools).toEqual([])
    })

    it('count lost attempts of models as failed, routes, runs by day, and budgets that there are', async () => {
      const { log, root } = family()
      const tables = await kit.fresh()
      await projected(log, tables)
      const { db } = tables
      const ended = (code: string) => db.selectFrom('agents').select('id').where('code', '=', code).execute()
      const found = await numbersOf(db, {})
      const attempts = await db.selectFrom('model_calls').selectAll().execute()
      expect(found.models.reduce((sum, { calls }) => sum + calls, 0)).toBe(attempts.length)
      expect(found.models.reduce((sum, { failed }) => sum + failed, 0)).toBe(
        attempts.filter(({ status }) => status === 'lost' || status === 'failed').length,
      )
      expect(found.modelFailures.map(({ code }) => code)).toContain('LOST')
      const routes = await db.selectFrom('model_routes').selectAll().execute()
      expect(found.routes.reduce((sum, { count }) => sum + count, 0)).toBe(routes.length)
      expect(found.runDays).toEqual([{ day: '2026-01-01', started: 1, completed: 0, failed: 0 }])
      expect(found.recoveries).toEqual({ underWay: 0, failed: (await ended('RECOVERY_FAILED')).length })
      const limited = await db
        .selectFrom('agent_budgets')
        .selectAll()
        .where('id', '=', root.id)
        .executeTakeFirstOrThrow()
      const has = limited.budget_tokens !== null || limited.budget_nano_dollars !== null
      expect(found.budgets.map(({ runId }) => runId)).toEqual(has ? [root.id] : [])
    })

    it('streams are listed by their names, page by page and by how they begin', async () => {
      const { log } = family()
      const tables = await kit.fresh()
      await projected(log, tables)
      const all = await selectStreams(tables.db, { limit: 10 })
      expect(all.map(({ stream, runId }) => [stream, runId])).toEqual([
        ['agent-r1', 'r1'],
        ['agent-r1x', 'r1'],
      ])
      expect(await selectStreams(tables.db, { limit: 10, after: 'agent-r1' })).toEqual(all.slice(1))
      expect(await selectStreams(tables.db, { limit: 1, prefix: 'agent-r1x' })).toEqual(all.slice(1))
      expect(await selectStreams(tables.db, { limit: 10, prefix: 'document-' })).toEqual([])
    })
  })
}
