import { createQueryId } from 'kysely'
import { describe, expect, it } from 'vitest'
import { publicTables, tableRows } from '../../projections/engine/queries/table-rows.ts'
import { describeWithSharedPostgres } from '../support/postgres/postgres.ts'
import { sqliteKit, type TablesKit } from '../support/projections/kit.ts'
import { postgresKit } from '../support/projections/postgres-kit.ts'

// The rows of every table and view, as exports read them.

const MANY = 40
const rows = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${MANY})`
const FILL = [
  `insert into agents (id, run_id, status, depth, created_at, turn, step, revision, updated_at, epoch)
    ${rows} select 'r' || i, 'r' || i, '', 0, '', 1, 1, 1, '', 1 from n`,
  `insert into checkpoint_rows (agent_id, revision, step, run_id, turn, position, timestamp)
    ${rows} select 'r1', i * 5, i, 'r1', 1, i * 50, '' from n`,
  `insert into model_calls (agent_id, turn, attempt, run_id, status, nano_dollars, erased)
    ${rows} select 'r' || i, 1, 1, 'r' || i, 'answered', i, 0 from n`,
]

function suite(kit: TablesKit): void {
  it(`${kit.name} runs one statement per table and view, and pages of any size give each row once`, async () => {
    const { db, alter } = await kit.fresh()
    for (const text of FILL) await alter(text)
    const isComputed = kit.name === 'SQLite' ? /^select/ : /^declare/
    const read = (limit: number) =>
      db.transaction().execute(async (transaction) => {
        const statements: string[] = []
        const watched = transaction.withPlugin({
          transformQuery({ node }) {
            statements.push(db.getExecutor().compileQuery(node, createQueryId()).sql)
            return node
          },
          transformResult: async ({ result }) => result,
        })
        const found: unknown[] = []
        for (const shape of publicTables())
          for await (const page of tableRows(watched, shape, limit)) {
            expect(page.length).toBeLessThanOrEqual(limit)
            for (const row of page) found.push([shape.name, row])
          }
        return { found, computed: statements.filter((text) => isComputed.test(text)) }
      })
    const whole = await read(2_000)
    expect(whole.found.length).toBeGreaterThan(5 * MANY)
    for (const limit of [1, 7, MANY]) {
      const { found, computed } = await read(limit)
      expect(found).toEqual(whole.found)
      expect(computed).toHaveLength(publicTables().length)
    }
  })
}

describe('SQLite', () => suite(sqliteKit))

describeWithSharedPostgres('PostgreSQL', (server) => suite(postgresKit(server)))
