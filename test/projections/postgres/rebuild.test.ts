import { describe, expect, it, onTestFinished } from 'vitest'
import { selectRuns } from '../../../projections/agent/queries/runs.ts'
import { PostgresHome } from '../../../projections/engine/postgres/home.ts'
import { openPool } from '../../../projections/engine/postgres/pool.ts'
import { describeWithSharedPostgres } from '../../support/postgres/postgres.ts'
import { MemoryLog } from '../../support/projections/memory-log.ts'
import { code, numbers, rebuilding } from '../../support/projections/rebuilding.ts'
import { Actor } from '../../support/projections/story.ts'
import { tell } from '../../support/projections/tell.ts'

describeWithSharedPostgres('rebuilding in PostgreSQL', (server) => {
  const { schemas, zero, open } = rebuilding(server)

  it('proves equal, switches, drops the old tables, and goes on following the log', async () => {
    const { log, actors } = tell(numbers)
    const { projections, schema, there, dump } = await open(log)
    const end = new AbortController()
    const running = projections.run(end.signal)
    expect(await there()).toEqual([schema, `${schema}_1`, `${schema}_control`])
    expect(await projections.rebuild()).toMatchObject({ switched: true, differences: [] })
    expect(await there()).toEqual([schema, `${schema}_2`, `${schema}_control`])
    actors[0]!.user('user_input', { text: 'still there?' })
    await projections.caughtUpTo(await log.headCursor())
    expect((await projections.read((db) => selectRuns(db))).position).toEqual(await log.headCursor())
    end.abort()
    await running
    expect(await dump()).toEqual(await zero(log))
  })

  it('shows a difference and does not switch, unless that is wanted', async () => {
    const { log } = tell(numbers)
    const { pool, projections, schema, live, there, dump } = await open(log)
    await pool.query(`update ${await live()}.runs set status = 'completed' where status = 'active'`)
    await pool.query(`delete from ${await live()}.inputs where agent_id = 'a000'`)
    await pool.query(`update ${await live()}.event_rows set payload = '{}' where position = 4`)
    const wrong = await dump()
    const { switched, differences } = await projections.rebuild()
    expect(switched).toBe(false)
    expect(differences!.map(({ table }) => table)).toEqual(['runs', 'inputs', 'event_rows'])
    const [runs, inputs, events] = differences!
    expect(runs!.onlyLive).toBeGreaterThan(0)
    expect(runs!.onlyLive).toBe(runs!.onlyRebuilt)
    expect(runs!.examples.live[0]).toMatchObject({ status: 'completed' })
    expect(runs!.examples.rebuilt[0]).toMatchObject({ status: 'active' })
    expect(inputs).toMatchObject({ onlyLive: 0, onlyRebuilt: wrong.inputs!.length === 0 ? 0 : expect.any(Number) })
    expect(events).toMatchObject({ onlyLive: 1, onlyRebuilt: 1 })
    expect(await dump()).toEqual(wrong)
    expect(await there()).toEqual([schema, `${schema}_1`, `${schema}_control`])
    expect(await projections.rebuild({ accept: true })).toMatchObject({ switched: true })
    expect(await dump()).toEqual(await zero(log))
  })

  it('compares at one position while the live tables go on', async () => {
    const { log, actors } = tell(numbers)
    const { projections, dump } = await open(log)
    const end = new AbortController()
    const running = projections.run(end.signal)
    const pages = log.pages
    // Something happens before every page that the rebuild reads.
    log.pages = () => {
      actors[0]!.user('user_input', { text: 'meanwhile' })
      return log.events.length < 900 ? 9 : pages()
    }
    expect(await projections.rebuild()).toMatchObject({ switched: true, differences: [] })
    log.pages = pages
    end.abort()
    await running
    await projections.catchUp()
    expect(await dump()).toEqual(await zero(log))
  })

  describe('a reader that holds its transaction open all the while', () => {
    it('waits for nothing, delays no other, and sees what it saw', async () => {
      const { log, actors } = tell(numbers)
      const { schema, projections, there } = await open(log)
      let letGo = () => {}
      const held = new Promise<void>((resolve) => {
        letGo = resolve
      })
      const reading = Promise.withResolvers<void>()
      const slow = projections.read(async (db) => {
        const first = await selectRuns(db)
        reading.resolve()
        await held
        return { first, again: await selectRuns(db) }
      })
      await reading.promise
      for (const actor of actors) actor.user('user_input', { text: 'meanwhile' })
      await projections.catchUp()
      expect(await projections.rebuild()).toMatchObject({ switched: true, differences: [] })
      // The new tables are read while the old ones are still held.
      expect((await projections.read((db) => selectRuns(db))).position).toEqual(await log.headCursor())
      expect(await there()).toEqual([schema, `${schema}_1`, `${schema}_1_views`, `${schema}_2`, `${schema}_control`])
      letGo()
      const { data } = await slow
      expect(data.again).toEqual(data.first)
      await projections.tidy()
      expect(await there()).toEqual([schema, `${schema}_2`, `${schema}_control`])
    })

    it('as an auditor: the next statement sees the new tables, an old snapshot is told, never answered wrongly', async () => {
      const { log } = tell(numbers)
      const { pool, schema, projections } = await open(log)
      const [plain, frozen] = [await pool.connect(), await pool.connect()]
      onTestFinished(() => {
        for (const client of [plain, frozen]) client.release(true)
      })
      const count = `select count(*) as n from ${schema}.runs`
      await plain.query('begin')
      await frozen.query('begin isolation level repeatable read')
      const [{ n }] = (await plain.query(count)).rows
      expect(n).toBeGreaterThan(2)
      expect((await frozen.query(count)).rows).toEqual([{ n }])
      expect(await projections.rebuild()).toMatchObject({ switched: true })
      expect((await plain.query(count)).rows).toEqual([{ n }])
      await expect(frozen.query(count)).rejects.toThrow(/rebuilt and switched while this transaction was open/)
      await frozen.query('rollback')
      expect((await frozen.query(count)).rows).toEqual([{ n }])
    })
  })

  it('an auditor may read the live views and nothing else, before and after a rebuild', async () => {
    const { log } = tell(numbers)
    const { pool, schema, home, projections } = await open(log)
    await home.grantAuditors()
    await home.grantAuditors()
    const person = await pool.connect()
    onTestFinished(() => person.release(true))
    await person.query(`create role ${schema}_ann login in role ${schema}_auditor; set role ${schema}_ann`)
    const may = async () => {
      for (const view of ['events', 'checkpoints', 'artifacts', 'agent_lineage', 'runs', 'position']) {
        const { rows } = await person.query(`select * from ${schema}.${view}`)
        if (view !== 'artifacts') expect(rows.length, view).toBeGreaterThan(0)
      }
      const live = `${schema}_${await home.live()}`
      for (const text of [
        `delete from ${schema}.runs`,
        `update ${schema}.runs set status = 'x'`,
        `select * from ${live}.runs`,
        `delete from ${schema}_control.live`,
        `create table ${schema}.mine (a int)`,
      ]) {
        await expect(person.query(text), text).rejects.toMatchObject({ code: '42501' })
      }
    }
    await may()
    await projections.rebuild()
    await may()
  })

  describe('processes', () => {
    it('that start at once make one set of tables; one of them writes', async () => {
      const { log } = tell(numbers)
      const schema = schemas.fresh()
      const started = await Promise.allSettled(Array.from({ length: 4 }, () => open(log, schema)))
      const opened = started.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
      for (const one of started) if (one.status === 'rejected') expect(one.reason).toEqual(code('POSITION_TAKEN'))
      expect(opened.length).toBeGreaterThan(0)
      expect(await opened[0]!.there()).toEqual([schema, `${schema}_1`, `${schema}_control`])
      expect(await opened[0]!.dump()).toEqual(await zero(log))
    })

    it('of which one rebuilds: the other’s projector stops, named, and readers of both see the new tables', async () => {
      const { log, actors } = tell(numbers)
      const one = await open(log)
      const two = await open(log, one.schema)
      const running = one.projections.run(new AbortController().signal)
      const stopped = expect(running).rejects.toEqual(code('POSITION_TAKEN'))
      expect(await two.projections.rebuild()).toMatchObject({ switched: true })
      actors[0]!.user('user_input', { text: 'whose?' })
      await stopped
      await two.projections.catchUp()
      for (const { projections } of [one, two]) {
        expect((await projections.read((db) => selectRuns(db))).position).toEqual(await log.headCursor())
      }
      await one.close()
      await two.home.dropOthers()
      expect(await two.there()).toEqual([one.schema, `${one.schema}_2`, `${one.schema}_control`])
    })

    it('cannot switch to tables that show less than answers have shown', async () => {
      const log = new MemoryLog()
      let at = 0
      const actor = new Actor(log, () => ++at, 'a', 'a')
      actor.start()
      const { home, projections } = await open(log)
      const { name, store } = await home.fresh()
      onTestFinished(() => store.close())
      const { progress } = projections.status()
      actor.user('user_input', { text: 'x' })
      await projections.catchUp()
      expect(await home.pointTo(name, progress)).toBe(false)
      expect(await home.live()).toBe('1')
      expect(await home.pointTo(name, projections.status().progress)).toBe(true)
    })

    it('that only read say that there is nothing yet', async () => {
      const home = new PostgresHome({ pool: schemas.pool(), schema: schemas.fresh() })
      await expect(home.read((db) => selectRuns(db))).rejects.toEqual(code('NOT_FOUND'))
    })
  })

  it('a user without rights, and a database that is none, are told', async () => {
    const [pool, schema] = [schemas.pool(), schemas.fresh()]
    await pool.query(`create role ${schema}_poor login`)
    const asked = async (from: string, to: string) => {
      const other = openPool({ url: server().url.replace(from, to), max: 1 })
      try {
        await new PostgresHome({ pool: other, schema }).live()
      } finally {
        await other.end()
      }
    }
    await expect(asked('//keepup@', `//${schema}_poor@`)).rejects.toEqual(code('REFUSED'))
    await expect(asked('/postgres?', '/none?')).rejects.toEqual(code('REFUSED'))
    await expect(asked('/postgres?', '/none?')).rejects.toThrow(
      /"none" does not exist.*see user, password and database/,
    )
  })

  it('refuses a schema whose name would need quoting', () => {
    for (const schema of ['', 'A', '1a', 'a-b', 'a b', 'a"', 'pg_x', 'a'.repeat(41)])
      expect(() => new PostgresHome({ pool: schemas.pool(), schema })).toThrow(/cannot be a schema/)
  })
})
