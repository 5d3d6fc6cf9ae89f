import { expect, it, onTestFinished } from 'vitest'
import { rebuildElsewhere, releaseElsewhere } from '../../../projections/engine/other-process.ts'
import { PostgresHome } from '../../../projections/engine/postgres/home.ts'
import { namesOf } from '../../../projections/engine/postgres/names.ts'
import { Projections } from '../../../projections/projections.ts'
import { describeWithSharedPostgres } from '../../support/postgres/postgres.ts'
import { code, numbers, rebuilding } from '../../support/projections/rebuilding.ts'
import { tell } from '../../support/projections/tell.ts'

// What another process does with the same tables in just that moment.

const story = () => tell(numbers.slice(0, 80)).log

describeWithSharedPostgres('tables that another process switches or takes meanwhile', (server) => {
  const { zero, open } = rebuilding(server)

  /** Tables that no process moves just now, a home of another process over them, and a switch by it. */
  async function idle() {
    const log = story()
    const sources = { log, blobs: log.blobs }
    const opened = await open(log)
    await opened.close()
    const { pool, schema } = opened
    const other = new PostgresHome({ pool, schema })
    const switched = async () => void (await rebuildElsewhere(other, sources, { accept: true }))
    const owned = (logId: string) => async () => {
      const live = `${schema}_${await other.live()}`
      await pool.query(`delete from ${live}.position`)
      await pool.query(`insert into ${live}.position values (1, '${logId}', 0, null, 'hash', 1)`)
    }
    return { ...opened, log, sources, other, switched, owned }
  }

  /** A method of a home before which, the first time, something else happens. */
  function before<K extends 'open' | 'compare' | 'fresh'>(home: PostgresHome, name: K, event: () => Promise<void>) {
    const method = home[name].bind(home) as (...args: unknown[]) => Promise<unknown>
    let happened: Promise<void> | null = null
    Object.assign(home, {
      async [name](...args: unknown[]) {
        happened ??= event()
        await happened
        return method(...args)
      },
    })
  }

  it('a start goes on with those that were switched to, and tells nothing of those that were', async () => {
    const { home, sources, schema, switched, there, dump, log } = await idle()
    before(home, 'open', switched)
    const projections = await Projections.open({ ...sources, home })
    onTestFinished(() => projections.close())
    expect(projections.status()).toMatchObject({ notice: null, progress: { events: log.events.length } })
    expect(await there()).toEqual([schema, `${schema}_2`, `${schema}_control`])
    expect(await dump()).toEqual(await zero(log))
  })

  it('a start that has opened them already, too', async () => {
    const { home, sources, switched, log } = await idle()
    const openStore = home.open.bind(home)
    let first = true
    home.open = async (name) => {
      const store = await openStore(name)
      if (first) await switched()
      first = false
      return store
    }
    const projections = await Projections.open({ ...sources, home })
    onTestFinished(() => projections.close())
    expect(projections.status()).toMatchObject({ notice: null, progress: { events: log.events.length } })
    expect(await home.live()).toBe('2')
  })

  it('a rebuild compares with those that were switched to', async () => {
    const { home, sources, switched, pool, schema } = await idle()
    before(home, 'compare', switched)
    expect(await rebuildElsewhere(home, sources)).toMatchObject({ switched: true, differences: [] })
    before(home, 'compare', async () => {
      await switched()
      await pool.query(`update ${schema}_${await home.live()}.runs set status = 'altered'`)
    })
    expect(await rebuildElsewhere(home, sources)).toMatchObject({ switched: false, differences: [{ table: 'runs' }] })
  })

  it('a release is one of those that were switched to', async () => {
    const { home, sources, switched, pool, schema, log } = await idle()
    const { stream } = log.events.at(-1)!.header
    const openStore = home.open.bind(home)
    let first = true
    home.open = async (name) => {
      const store = await openStore(name)
      if (!first) return store
      first = false
      await pool.query(`insert into ${schema}_1.parked select '${stream}', 'r', 0, 0, '', '', 1, 'X', '', ''`)
      await switched()
      return store
    }
    await expect(releaseElsewhere(home, sources, stream)).rejects.toEqual(code('NOT_PARKED'))
  })

  it('tables that another log has taken since they were looked at are left to it', async () => {
    const { home, sources, owned, pool, schema, there } = await idle()
    const refused = async (work: Promise<unknown>) => {
      await expect(work).rejects.toEqual(code('LOG_OTHER'))
      expect((await pool.query(`select log_id from ${schema}_1.position`)).rows).toEqual([{ log_id: 'other' }])
      expect(await there()).toEqual([schema, `${schema}_1`, `${schema}_control`])
    }
    const { logId } = sources.log
    before(home, 'open', owned('other'))
    await refused(Projections.open({ ...sources, home }))
    await owned(logId)()
    before(home, 'compare', owned('other'))
    await refused(rebuildElsewhere(home, sources, { accept: true }))
    await owned(logId)()
    await pool.query(`update ${schema}_control.generations set meaning = 1`)
    before(home, 'fresh', owned('other'))
    await refused(Projections.open({ ...sources, home }))
    expect(await rebuildElsewhere(home, sources, { takeOver: true })).toMatchObject({ switched: true })
    expect((await pool.query(`select log_id from ${schema}_2.position`)).rows).toEqual([{ log_id: logId }])
  })

  it('a pointer that leads nowhere is set to the tables that are shown', async () => {
    const { home, sources, pool, schema, there, warned } = await idle()
    await pool.query(`update ${schema}_control.live set n = n + 7`)
    const projections = await Projections.open({ ...sources, home })
    onTestFinished(() => projections.close())
    expect(projections.status().notice).toBe(null)
    expect(await there()).toEqual([schema, `${schema}_1`, `${schema}_control`])
    await pool.query(`update ${schema}_control.live set n = n + 7; delete from ${schema}_control.generations`)
    await projections.close()
    const again = await Projections.open({ ...sources, home })
    onTestFinished(() => again.close())
    expect(again.status().notice).toMatch(/older meaning/)
    expect(await there()).toEqual([schema, `${schema}_2`, `${schema}_control`])
    expect(warned).toEqual([])
  })

  it('tables that have lost their position are made anew', async () => {
    const { home, sources, pool, schema, dump, log } = await idle()
    await pool.query(`delete from ${schema}_1.position`)
    expect((await home.look()).damage).toMatch(/position has lost its row/)
    const projections = await Projections.open({ ...sources, home })
    onTestFinished(() => projections.close())
    expect(projections.status().notice).toMatch(/position has lost its row/)
    expect(await dump()).toEqual(await zero(log))
  })

  it('who asks waits for no tidying up, and not beyond its limit for a switch', async () => {
    const log = story()
    const { pool, schema, projections, home } = await open(log)
    const head = await log.headCursor()
    const holder = await pool.connect()
    onTestFinished(() => holder.release(true))
    await holder.query(`select pg_advisory_lock(${namesOf(schema).lock})`)
    const tidied = projections.tidy()
    await projections.caughtUpTo(head, AbortSignal.timeout(10_000))
    await holder.query('select pg_advisory_unlock_all()')
    await tidied
    const [reached, open_] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const pointTo = home.pointTo.bind(home)
    home.pointTo = async (...args) => {
      reached.resolve()
      await open_.promise
      return pointTo(...args)
    }
    const rebuilt = projections.rebuild()
    await reached.promise
    const given = new AbortController()
    const asked = projections.caughtUpTo(head, given.signal)
    given.abort()
    await expect(asked).rejects.toEqual(code('ABORTED'))
    open_.resolve()
    await rebuilt
    await projections.caughtUpTo(head)
  })
})
