import type pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { rebuildElsewhere } from '../../projections/elsewhere.ts'
import { Projections } from '../../projections/projections.ts'
import { describeWithPostgres } from '../support/postgres.ts'
import { numbers, rebuilding } from '../support/projections/rebuilding.ts'
import { Actor } from '../support/projections/story.ts'
import { tell } from '../support/projections/tell.ts'

describeWithPostgres('what people have built on the published views', (server) => {
  const { open } = rebuilding(server)

  /** A deployment with a team beside it: its own schema with a view, a view of that, and a materialized view. */
  async function withTeam() {
    const { log } = tell(numbers)
    const opened = await open(log)
    const { pool, schema } = opened
    const team = `${schema}_team`
    await pool.query(`create role ${schema}_ann login; create schema ${team} authorization ${schema}_ann`)
    await opened.home.grantAuditors()
    await pool.query(`grant ${schema}_auditor to ${schema}_ann`)
    const ann = await pool.connect()
    onTestFinished(() => ann.release(true))
    await ann.query(`set role ${schema}_ann`)
    await ann.query(`create view ${team}.spend as
      select run_id, sum(usage_cost) as cost, count(*) as agents from ${schema}.agent_lineage group by 1`)
    await ann.query(`create view ${team}.dear as select * from ${team}.spend where agents > 0`)
    await ann.query(`create materialized view ${team}.kept as select id, status from ${schema}.agents`)
    const count = async (table: string) => (await ann.query(`select count(*) as n from ${table}`)).rows[0].n as number
    const agents = () =>
      log.events.filter(({ header }) => /^agent-/.test(header.stream) && header.revision === 0).length
    const there = async () => (await opened.there()).filter((name) => name !== team)
    return { ...opened, there, log, team, ann, count, agents }
  }

  const only = (schema: string, n: number) => [schema, `${schema}_${n}`, `${schema}_control`]

  it('survives rebuilds, and shows the new tables', async () => {
    const { log, schema, team, ann, count, agents, projections, there, warned } = await withTeam()
    const before = await count(`${team}.dear`)
    expect(before).toBeGreaterThan(2)
    for (const n of [2, 3]) {
      expect(await projections.rebuild()).toMatchObject({ switched: true, differences: [] })
      expect(await there()).toEqual(only(schema, n))
      new Actor(log, () => Date.UTC(2030, 0, n), `late${n}`, `late${n}`).start()
      await projections.catchUp()
      await ann.query(`refresh materialized view ${team}.kept`)
      expect(await count(`${team}.kept`)).toBe(agents())
      expect((await ann.query(`select sum(agents) as n from ${team}.dear`)).rows).toEqual([{ n: agents() }])
    }
    expect(warned).toEqual([])
  })

  it('follows with the switch itself, also where another process rebuilds', async () => {
    const { log, home, schema, team, count, there } = await withTeam()
    const before = await count(`${team}.dear`)
    expect(await rebuildElsewhere(home, { log, blobs: log.blobs })).toMatchObject({ switched: true })
    expect(await there()).toContain(`${schema}_1`)
    expect(await count(`${team}.dear`)).toBe(before)
  })

  it('survives tables that a start makes anew', async () => {
    const { log, pool, schema, home, team, count, projections, there } = await withTeam()
    const before = await count(`${team}.dear`)
    await projections.close()
    await pool.query(`update ${schema}_control.generations set meaning = 1`)
    const again = await Projections.open({ log, blobs: log.blobs, home })
    onTestFinished(() => again.close())
    expect(again.status().notice).toMatch(/older meaning/)
    expect(await there()).toEqual(only(schema, 2))
    expect(await count(`${team}.dear`)).toBe(before)
  })

  it('keeps nobody waiting who reads it meanwhile, and follows when they have ended', async () => {
    const { pool, schema, team, count, projections, there, warned } = await withTeam()
    const reader = await pool.connect()
    onTestFinished(() => reader.release(true))
    await reader.query(`begin; select count(*) from ${team}.dear`)
    expect(await projections.rebuild()).toMatchObject({ switched: true })
    expect(await there()).toEqual([schema, `${schema}_1`, `${schema}_1_views`, `${schema}_2`, `${schema}_control`])
    await expect(reader.query(`select count(*) from ${team}.dear`)).rejects.toMatchObject({ code: '40001' })
    await reader.query('rollback')
    await pool.query(`create role ${schema}_bob login; grant usage on schema ${schema} to ${schema}_bob`)
    await pool.query(`grant select on ${schema}.agent_lineage to ${schema}_bob`)
    await projections.tidy()
    expect(await there()).toEqual(only(schema, 2))
    expect(await count(`${team}.dear`)).toBeGreaterThan(2)
    await reader.query(`set role ${schema}_bob`)
    expect((await reader.query(`select from ${schema}.agent_lineage`)).rowCount).toBeGreaterThan(2)
    expect(warned).toEqual([])
  })

  it('goes along where somebody has put it into the published schema itself', async () => {
    const { pool, schema, projections, there } = await withTeam()
    await pool.query(
      `create view ${schema}.mine as select * from ${schema}.runs; create table ${schema}.notes (t text)`,
    )
    for (const n of [2, 3]) {
      await projections.rebuild()
      expect(await there()).toEqual(only(schema, n))
      expect((await pool.query(`select from ${schema}.mine`)).rowCount).toBeGreaterThan(2)
      expect((await pool.query(`select from ${schema}.notes`)).rowCount).toBe(0)
    }
  })

  it('is told by name, once, where its columns are gone; it is not dropped, and nothing else suffers', async () => {
    const { pool, schema, team, count, projections, there, warned } = await withTeam()
    // As tables of another program had them.
    await pool.query(`create or replace view ${schema}.runs as select *, 'x' as former from ${schema}_1.runs`)
    await pool.query(`create view ${team}.old as select former from ${schema}.runs`)
    expect(await projections.rebuild()).toMatchObject({ switched: true })
    await projections.tidy()
    expect(warned).toEqual([expect.stringContaining(`view ${team}.old depends on`)])
    expect(warned[0]).toMatch(/make views anew on those in/)
    expect(await there()).toEqual([schema, `${schema}_1`, `${schema}_1_views`, `${schema}_2`, `${schema}_control`])
    expect(await relation(pool, `${team}.old`)).toBe(true)
    expect(await count(`${team}.dear`)).toBeGreaterThan(2)
    expect(await projections.rebuild()).toMatchObject({ switched: true })
    await pool.query(`drop view ${team}.old`)
    await projections.tidy()
    expect(await there()).toEqual(only(schema, 3))
    expect(await count(`${team}.dear`)).toBeGreaterThan(2)
  })
})

const relation = async (pool: pg.Pool, name: string): Promise<boolean> =>
  (await pool.query('select to_regclass($1) is not null as there', [name])).rows[0].there
