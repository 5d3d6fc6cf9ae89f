import { expect, it } from 'vitest'
import { describeWithSharedPostgres } from '../../support/postgres/postgres.ts'
import { numbers, rebuilding } from '../../support/projections/rebuilding.ts'
import { tell } from '../../support/projections/tell.ts'

const LATER = ['role_claims', 'retention', 'holds', 'principal_links']

describeWithSharedPostgres('tables of version 2', (server) => {
  const { open, zero } = rebuilding(server)

  it('get the tables of access and the view of causes that later versions add, without a rebuild', async () => {
    const { log } = tell(numbers.slice(0, 80))
    const { schema, pool, close } = await open(log)
    await close()
    await pool.query(`drop table ${LATER.map((name) => `${schema}_1.${name}`).join(', ')} cascade`)
    await pool.query(`drop view ${schema}_1.cost_by_cause cascade`)
    await pool.query(`update ${schema}_control.generations set version = 2`)

    const { projections, there, dump } = await open(log, schema)
    expect(projections.status().notice).toBeNull()
    expect(await there()).toEqual([schema, `${schema}_1`, `${schema}_control`])
    expect(await dump()).toEqual(await zero(log))
    for (const name of LATER) expect((await pool.query(`select * from ${schema}.${name}`)).rows).toEqual([])
    expect((await pool.query(`select count(*) > 0 as some from ${schema}.cost_by_cause`)).rows).toEqual([
      { some: true },
    ])
    const indexes = `select tablename as name from pg_indexes where schemaname = $1 and tablename = any ($2)`
    expect((await pool.query(indexes, [`${schema}_1`, LATER])).rows).toHaveLength(2 * LATER.length)
    const { rows } = await pool.query(`select version from ${schema}_control.generations`)
    expect(rows).toEqual([{ version: 5 }])
  })
})
