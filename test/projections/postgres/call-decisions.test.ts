import fc from 'fast-check'
import { expect, it } from 'vitest'
import { selectDecisions } from '../../../projections/agent/queries/decisions.ts'
import { describeWithSharedPostgres } from '../../support/postgres/postgres.ts'
import { tape } from '../../support/projections/fc.ts'
import { projected, sqliteKit } from '../../support/projections/kit.ts'
import { postgresKit } from '../../support/projections/postgres-kit.ts'
import { tell } from '../../support/projections/tell.ts'

describeWithSharedPostgres('call_decisions in PostgreSQL', (server) => {
  it('has the same rows as in SQLite', async () => {
    const { log } = tell(fc.sample(tape, { numRuns: 60, seed: 5 }).flat())
    const runs = [...new Set(log.events.map(({ header }) => header.runId ?? ''))]
    const found = []
    for (const kit of [sqliteKit, postgresKit(server)]) {
      const tables = await kit.fresh()
      await projected(log, tables)
      const rows = await Promise.all(runs.map((runId) => selectDecisions(tables.db, { runId, limit: 1000 })))
      found.push(rows.flat())
    }
    expect(found[1]).toEqual(found[0])
    expect(new Set(found[0]!.map(({ decision }) => decision)).size).toBeGreaterThan(2)
  })
})
