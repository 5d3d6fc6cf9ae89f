import { expect, it } from 'vitest'
import { Projections } from '../../../projections/projections.ts'
import { describeWithSharedPostgres } from '../../support/postgres/postgres.ts'
import { code, numbers, rebuilding } from '../../support/projections/rebuilding.ts'
import { tell } from '../../support/projections/tell.ts'

describeWithSharedPostgres('views that people have built on the published views', (server) => {
  const { open } = rebuilding(server)

  /** A deployment with a team beside it: a schema with a view, a view of that, and a materialized view. */
  async function withTeam() {
    const { log } = tell(numbers)
    const opened = await open(log)
    const { pool, schema } = opened
    const team = `${schema}_team`
    await pool.query(`create schema ${team};
      create view ${team}.spend as select run_id, sum(usage_cost) as cost from ${schema}.agent_lineage group by 1;
      create view ${team}.dear as select * from ${team}.spend where cost > 1;
      create materialized view ${team}.kept as select id, status from ${schema}.agents`)
    return { ...opened, log, team }
  }

  it('a rebuild refuses and names them; dropped and created again, they show the new tables', async () => {
    const { pool, schema, team, projections, there, live } = await withTeam()
    const before = await there()
    const refused = projections.rebuild()
    await expect(refused).rejects.toEqual(code('REFUSED'))
    await expect(refused).rejects.toThrow(
      `the materialized view ${team}.kept reads ${schema}.agents; drop it, rebuild, create it again. ` +
        `the view ${team}.spend reads ${schema}.agent_lineage; drop it, rebuild, create it again`,
    )
    expect(await there()).toEqual(before)
    await pool.query(`drop materialized view ${team}.kept; drop view ${team}.dear; drop view ${team}.spend`)
    expect(await projections.rebuild()).toMatchObject({ switched: true, differences: [] })
    expect(await live()).toBe(`${schema}_2`)
  })

  it('a view that was created during a rebuild stops the switch, and the live tables continue', async () => {
    const { log } = tell(numbers)
    const { pool, schema, home, projections, live } = await open(log)
    const compare = home.compare.bind(home)
    home.compare = async (...args) => {
      await pool.query(`create view public.${schema}_late as select id from ${schema}.runs`)
      return compare(...args)
    }
    await expect(projections.rebuild()).rejects.toThrow(`the view public.${schema}_late reads ${schema}.runs; drop it`)
    expect(await live()).toBe(`${schema}_1`)
    await projections.catchUp()
  })

  it('a start that must make the tables anew refuses too', async () => {
    const { pool, schema, home, log, close, team } = await withTeam()
    await close()
    await pool.query(`update ${schema}_control.generations set meaning = 1`)
    await expect(Projections.open({ log, blobs: log.blobs, home })).rejects.toThrow(`the view ${team}.spend reads`)
  })
})
