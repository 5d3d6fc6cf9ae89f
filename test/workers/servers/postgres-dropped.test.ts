import { expect, it, onTestFinished } from 'vitest'
import { rebuildElsewhere } from '../../../projections/engine/other-process.ts'
import { describeWithSharedPostgres } from '../../support/postgres/postgres.ts'
import { code, numbers, rebuilding } from '../../support/projections/rebuilding.ts'
import { Actor } from '../../support/projections/story.ts'
import { tell } from '../../support/projections/tell.ts'

// Schemas, tables and columns that a person has dropped by hand, or not restored.

const story = () => tell(numbers.slice(0, 80)).log
const drop = (...schemas: string[]) => schemas.map((schema) => `drop schema ${schema} cascade`).join(';')

type Damage = readonly [what: string, sql: (ns: string) => string, told: RegExp | null]
const damages: readonly Damage[] = [
  ['the views', (ns) => drop(ns), /schema t\d+ has lost .*runs/],
  ['the live generation', (ns) => drop(`${ns}_1`), /t\d+_1\.position is gone/],
  ['the views and the live generation', (ns) => drop(ns, `${ns}_1`), /t\d+_1\.position is gone/],
  ['the control schema', (ns) => drop(`${ns}_control`), null],
  ['the pointer', (ns) => `delete from ${ns}_control.live`, null],
  ['what generations there are', (ns) => `drop table ${ns}_control.generations`, null],
  ['the function behind the views', (ns) => `drop function ${ns}_control.shows(bigint) cascade`, null],
  ['the control schema and the live generation', (ns) => drop(`${ns}_control`, `${ns}_1`), null],
  ['everything', (ns) => drop(ns, `${ns}_1`, `${ns}_control`), null],
  ['one table', (ns) => `drop table ${ns}_1.runs cascade`, /runs is gone/],
  ['the position', (ns) => `drop table ${ns}_1.position cascade`, /position is gone/],
  ['one column', (ns) => `alter table ${ns}_1.runs drop column created_by cascade`, /lost its column created_by/],
]

/** One of each kind. */
const worst = damages.filter(([what]) =>
  ['the views', 'the views and the live generation', 'the control schema', 'one column'].includes(what),
)

describeWithSharedPostgres('tables of which something was dropped', (server) => {
  const { zero, open } = rebuilding(server)

  it.each(damages)(
    '%s: it is told, they come back at the next start, and nothing is left behind',
    async (_, sql, told) => {
      const log = story()
      const first = await open(log)
      await first.close()
      await first.pool.query(sql(first.schema))
      const { position, damage } = await first.home.look()
      if (told === null) expect([position, damage]).toEqual([undefined, null])
      else expect(damage).toMatch(told)
      const { dump, there, live, schema, pool, home } = await open(log, first.schema)
      expect(await dump()).toEqual(await zero(log))
      expect((await home.look()).damage).toBe(null)
      expect(await there()).toEqual([schema, await live(), `${schema}_control`])
      expect((await pool.query(`select count(*) as n from ${schema}.event_rows`)).rows[0].n).toBe(log.events.length)
    },
  )

  it.each(worst)('%s: a rebuild beside the process that moves them brings them back', async (_, sql) => {
    const log = story()
    const first = await open(log)
    await first.pool.query(sql(first.schema))
    expect(await rebuildElsewhere(first.home, { log, blobs: log.blobs })).toMatchObject({ switched: true })
    expect((await first.home.look()).damage).toBe(null)
    await first.close()
    const { dump, there, live, schema, pool } = await open(log, first.schema)
    expect(await dump()).toEqual(await zero(log))
    expect(await there()).toEqual([schema, await live(), `${schema}_control`])
    expect((await pool.query(`select count(*) as n from ${schema}.runs`)).rows[0].n).toBeGreaterThan(0)
  })

  it('the process that moves them finds it when it tidies up, also where nothing is recorded', async () => {
    for (const [what, sql, told] of worst) {
      const log = story()
      const { projections, pool, schema, close, home } = await open(log)
      await pool.query(sql(schema))
      const found = await projections.tidy().then(
        () => 'mended',
        (error) => error.code,
      )
      if (found === 'mended') expect([what, (await home.look()).damage]).toEqual([what, null])
      else expect([what, found]).toEqual([what, told === null ? 'POSITION_TAKEN' : 'SCHEMA_OTHER'])
      await close()
    }
  })

  it('views that come back can be read by the roles that could read all of the others', async () => {
    const log = story()
    const first = await open(log)
    const { role } = await first.home.grantAuditors()
    await first.close()
    await first.pool.query(`drop view ${first.schema}.runs, ${first.schema}.events`)
    await open(log, first.schema)
    const may = `select has_table_privilege($1, '${first.schema}.runs', 'select') as may`
    expect((await first.pool.query(may, [role])).rows).toEqual([{ may: true }])
  })

  it('a foreign object in the schema of the views stays there, and stands in the way only by its name', async () => {
    const log = story()
    const first = await open(log)
    await first.close()
    const { pool, schema, there } = first
    await pool.query(`create table ${schema}.notes as select 1 as n; ${drop(`${schema}_control`)}`)
    await (await open(log, schema)).close()
    expect((await pool.query(`select * from ${schema}.notes`)).rows).toEqual([{ n: 1 }])
    const before = await there()
    await pool.query(`drop view ${schema}.runs; create table ${schema}.runs as select 2 as n`)
    await expect(open(log, schema)).rejects.toEqual(code('REFUSED'))
    await expect(open(log, schema)).rejects.toThrow(`${schema}.runs is a table of others`)
    expect((await pool.query(`select * from ${schema}.runs`)).rows).toEqual([{ n: 2 }])
    expect(await there()).toEqual(before)
  })

  it('tables that a killed process was making are dropped by the next one, those that are being made are not', async () => {
    const log = story()
    const { home, there, projections, schema } = await open(log)
    const killed = await home.fresh()
    await killed.store.close()
    const { store } = await home.fresh()
    onTestFinished(() => store.close())
    await projections.tidy()
    expect(await there()).toEqual([schema, `${schema}_1`, `${schema}_3`, `${schema}_control`])
  })

  it('an older log under newer tables: they are replaced only where that is asked for, which is told', async () => {
    const log = story()
    const first = await open(log)
    const events = log.events.length
    new Actor(log, () => Date.UTC(2027, 0, 1), 'lost', 'lost').start()
    await first.projections.catchUp()
    await first.close()
    const shown = log.events.length
    const older = story()
    expect([older.logId, older.events.length]).toEqual([log.logId, events])
    await expect(open(older, first.schema)).rejects.toEqual(code('LOG_OLDER'))
    const { projections, dump } = await open(older, first.schema, { replaceNewer: true })
    const { notice, progress } = projections.status()
    expect(notice).toMatch(
      new RegExp(`show ${shown} events up to position \\d+, which the log does not hold.* is lost`),
    )
    expect(progress.events).toBe(events)
    expect(await dump()).toEqual(await zero(older))
  })
})
