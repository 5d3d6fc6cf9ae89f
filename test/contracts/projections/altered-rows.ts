import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { alteredRows, strayRows } from '../../../projections/engine/altered-rows.ts'
import type { TableSpec } from '../../../projections/engine/schema/columns.ts'
import { eventRows } from '../../../projections/engine/schema/event-rows.ts'
import { specOf, tableNames } from '../../../projections/engine/schema/tables.ts'
import { progressOf } from '../../../projections/engine/store/store.ts'
import { runs, tape } from '../../support/projections/fc.ts'
import { projected, type Tables, type TablesKit } from '../../support/projections/kit.ts'
import type { MemoryLog } from '../../support/projections/memory-log.ts'
import { tell } from '../../support/projections/tell.ts'

const numbers = Array.from({ length: 900 }, (_, i) => (i * 7919 + (i >> 3) * 31) % 1000)

/** All that differs, by stream. */
async function altered(log: MemoryLog, { db }: Tables) {
  const read = async <T>(query: (of: typeof db) => Promise<T>) => {
    const row = await db.selectFrom('position').selectAll().executeTakeFirst()
    return { position: row ? progressOf(row).cursor : null, data: await query(db) }
  }
  const streams = new Set(log.events.map(({ header }) => header.stream))
  const found = []
  for (const stream of streams)
    for (const row of await alteredRows({ read, log, blobs: log.blobs }, stream)) found.push({ stream, ...row })
  return found
}

export function alteredRowsContract(kit: TablesKit): void {
  const open = async (told: readonly number[]) => {
    const { log } = tell(told)
    const tables = await kit.fresh()
    const { store } = await projected(log, tables)
    return { log, tables, keepsEvents: store.keepsEvents }
  }

  describe('the comparison of stored rows with the log', () => {
    it('finds no difference in tables that only the projector has written', async () => {
      await fc.assert(
        fc.asyncProperty(tape, async (told) => {
          const { log, tables } = await open(told)
          expect(await altered(log, tables)).toEqual([])
          expect(await strayRows(tables.db, 3)).toEqual([])
        }),
        runs(kit.cases(60)),
      )
    })

    it('names the column of every table that was edited, the stored value and that of the log', async () => {
      const { log, tables, keepsEvents } = await open(numbers)
      const dump = await tables.dump()
      const specs: (readonly [string, TableSpec])[] = [
        ...tableNames().map((table) => [table, specOf(table)] as const),
        ['event_rows', eventRows] as const,
      ]
      const edited: string[] = []
      for (const [table, { columns, key }] of keepsEvents ? specs : specs.slice(0, -1)) {
        const row = dump[table]![0]
        if (row === undefined) continue
        const where = key.map((name) => `"${name}" = ${literal(row[name])}`).join(' and ')
        const names = Object.keys(columns).filter((name) => !key.includes(name))
        for (const name of [names[0], names.at(-1)]) {
          if (name === undefined) continue
          const isNumber = columns[name]!.startsWith('integer')
          const value = isNumber ? Number(row[name] ?? 0) + 1 : 'edited'
          await tables.alter(`update "${table}" set "${name}" = ${literal(value)} where ${where}`)
          const columnsFound = [{ name, stored: value, folded: row[name] }]
          expect(await altered(log, tables), `${table}.${name}`).toEqual([
            expect.objectContaining({ table, state: 'changed', columns: columnsFound }),
          ])
          await tables.alter(`update "${table}" set "${name}" = ${literal(row[name])} where ${where}`)
        }
        edited.push(table)
      }
      expect(await altered(log, tables)).toEqual([])
      expect(edited).toEqual(expect.arrayContaining(['runs', 'agents', 'tool_calls', 'approvals', 'context_stores']))
      expect(edited.includes('event_rows')).toBe(keepsEvents)
    })

    it('names rows that were removed or added, and a moved head', async () => {
      const { log, tables } = await open(numbers)
      const [call] = (await tables.dump()).tool_calls!
      const of = { agent_id: call!.agent_id, id: call!.id }
      await tables.alter(`delete from tool_calls where agent_id = '${of.agent_id}' and id = '${of.id}'`)
      await tables.alter(
        "insert into inputs (agent_id, revision, run_id, by, at) values ('a000', 9999, 'x', 'eve', 'now')",
      )
      const found = await altered(log, tables)
      const added = { agent_id: 'a000', revision: 9999 }
      expect(found).toHaveLength(2)
      expect(found).toContainEqual({ stream: 'agent-a000', table: 'inputs', key: added, state: 'extra', columns: [] })
      expect(found).toContainEqual({
        ...{ stream: `agent-${of.agent_id}`, table: 'tool_calls' },
        ...{ key: of, state: 'missing', columns: [] },
      })
      await tables.alter("update streams set revision = revision - 1 where stream = 'agent-a000'")
      expect(await altered(log, tables)).toContainEqual(
        expect.objectContaining({ table: 'streams', key: { stream: 'agent-a000' }, state: 'changed' }),
      )
      await tables.alter("delete from streams where stream = 'agent-a000'")
      expect(await altered(log, tables)).toContainEqual(
        expect.objectContaining({ table: 'streams', key: { stream: 'agent-a000' }, state: 'missing' }),
      )
    })

    it('names rows of streams that the log does not hold', async () => {
      const { tables } = await open(numbers)
      await tables.alter(
        "insert into approvals (agent_id, tool_call_id, run_id, status) values ('none', 'c', 'r', 'approved')",
      )
      expect(await strayRows(tables.db, 3)).toEqual([
        { table: 'approvals', key: { agent_id: 'none' }, state: 'extra', columns: [] },
      ])
    })
  })
}

const literal = (value: unknown): string =>
  value === null ? 'null' : typeof value === 'number' ? String(value) : `'${String(value).replaceAll("'", "''")}'`
