import { expect, it, onTestFinished } from 'vitest'
import { MemoryLeases } from '../../../adapters/memory/leases.ts'
import { SharedTables } from '../../../api/process/servers/shared-tables.ts'
import { PostgresHome } from '../../../projections/engine/postgres/home.ts'
import { type ConnectionPool, openPool } from '../../../projections/engine/postgres/pool.ts'
import { Projections } from '../../../projections/projections.ts'
import { SilentProxy } from '../../support/network/silent-proxy.ts'
import { describeWithPostgres } from '../../support/postgres/postgres.ts'
import { folded } from '../../support/projections/kit.ts'
import { dumpSchema, postgresKit } from '../../support/projections/postgres-kit.ts'
import { Actor } from '../../support/projections/story.ts'
import { tell } from '../../support/projections/tell.ts'
import { standing } from '../../support/time/standing-clock.ts'

const numbers = Array.from({ length: 200 }, (_, i) => (i * 7919 + (i >> 3) * 31) % 1000)
const SILENT_MS = 100
const NEVER_MS = 1_000_000

describeWithPostgres('PostgreSQL behind a network that falls silent', (server) => {
  const kit = postgresKit(server)
  const soon = () => AbortSignal.timeout(60_000)
  const add = (log: ReturnType<typeof tell>['log'], id: string) =>
    new Actor(log, () => Date.UTC(2027, 0, 1), id, id).start()

  async function behind(
    silentMs = SILENT_MS,
    { max = 12, settings = '', user = 'keepup' } = {},
  ): Promise<{ proxy: SilentProxy; pool: ConnectionPool }> {
    const folder = decodeURIComponent(/host=(.*)$/.exec(server().url)![1]!)
    const proxy = new SilentProxy(`${folder}/.s.PGSQL.5432`)
    const url = `postgres://${user}@127.0.0.1:${await proxy.listen()}/postgres?options=${encodeURIComponent(settings)}`
    const pool = openPool({ url, silentMs, max })
    onTestFinished(async () => {
      await pool.shut(0)
      proxy.close()
    })
    return { proxy, pool }
  }

  async function tables(pool: ConnectionPool, schema: string) {
    const { log } = tell(numbers)
    const clock = standing()
    const home = new PostgresHome({ pool, schema })
    const shared = { leases: new MemoryLeases(clock), clock, ttlMs: 400, holder: 'a', warn: () => undefined }
    const opened = await SharedTables.open({ home, log, blobs: log.blobs, ...shared })
    onTestFinished(() => opened.close())
    await opened.caughtUpTo(await log.headCursor(), soon())
    return { log, opened }
  }
  const direct = () => {
    const pool = openPool({ url: server().url })
    onTestFinished(() => pool.end())
    return pool
  }

  it('the projector goes on with new connections', async () => {
    const { proxy, pool } = await behind()
    const { log, opened } = await tables(pool, 'mover')
    proxy.silence()
    add(log, 'after')
    await opened.caughtUpTo(await log.headCursor(), soon())
    expect(await dumpSchema(direct(), 'mover_1')).toEqual(await folded(log, kit))
  })

  it('a commit without an answer is looked up and not repeated', async () => {
    const { proxy, pool } = await behind()
    const { log } = tell(numbers)
    log.pages = () => 40
    const home = new PostgresHome({ pool, schema: 'unheard' })
    await home.live()
    const fallen = proxy.silenceAt('insert into tool_calls')
    const then = fallen.then(() => proxy.silenceAt('commit'))
    const projections = await Projections.open({ log, blobs: log.blobs, home })
    await then
    expect(projections.status().progress.events).toBe(log.events.length)
    await projections.close()
    expect(await dumpSchema(direct(), 'unheard_1')).toEqual(await folded(log, kit))
  })

  it('a question is asked again', async () => {
    const { proxy, pool } = await behind()
    const { opened } = await tables(pool, 'reader')
    proxy.silence()
    await opened.read(async () => null)
  })

  it('a connection that falls silent within an answer is detected, though the server still works on it', async () => {
    const { proxy, pool } = await behind()
    const fallen = proxy.silenceAt('generate_series')
    const asked = pool.query(`select repeat('x', 1000000) from generate_series(1, 40)`)
    await expect(asked).rejects.toMatchObject({ code: 'ETIMEDOUT' })
    await fallen
  })

  it('a connection that falls silent between its login and the first answer keeps no place in the pool', async () => {
    const { proxy, pool } = await behind(SILENT_MS, { max: 1 })
    const fallen = proxy.silenceAt('pg_backend_pid')
    await expect(pool.query('select 1')).rejects.toMatchObject({ code: 'ETIMEDOUT' })
    await fallen
    expect((await pool.query('select 2 as n')).rows).toEqual([{ n: 2 }])
  })

  it.each(['on', 'off'])(
    'what takes long, or waits for a lock, is waited for: track_activities %s',
    async (tracked) => {
      const { pool } = await behind(20, { settings: `-c track_activities=${tracked}` })
      const [holder, waiter] = [await pool.connect(), await pool.connect()]
      await holder.query('select pg_advisory_lock(7)')
      const waits = waiter.query('select pg_advisory_lock(7)')
      await holder.query('select pg_sleep(0.6)')
      await holder.query('select pg_advisory_unlock(7)')
      await waits
      const long = await holder.query(`select repeat('x', 1000) as text, pg_sleep(0.001) from generate_series(1, 300)`)
      expect(long.rows).toHaveLength(300)
      holder.release()
      waiter.release(true)
    },
  )

  it('an answer that comes slowly is waited for', async () => {
    const { proxy, pool } = await behind(20)
    const slow = proxy.slowAt('generate_series', 6)
    const asked = pool.query(`select repeat('x', 1000000) as text from generate_series(1, 8)`)
    await slow
    expect((await asked).rows).toHaveLength(8)
  })

  it('a long statement is waited for, also while the server refuses new connections', async () => {
    await direct().query('create role alone login connection limit 1')
    const { pool } = await behind(20, { user: 'alone' })
    expect((await pool.query('select pg_sleep(0.6)')).rowCount).toBe(1)
  })

  it('a mere watcher of the tables waits no longer than its limit', async () => {
    const { proxy, pool } = await behind(NEVER_MS)
    const { log } = tell(numbers)
    const clock = standing()
    const leases = new MemoryLeases(clock)
    await leases.acquire('.projector', 'another', NEVER_MS)
    const home = new PostgresHome({ pool, schema: 'watcher' })
    const sources = { home, log, blobs: log.blobs, leases, clock }
    const opened = await SharedTables.open({ ...sources, ttlMs: 400, holder: 'a', warn: () => undefined })
    onTestFinished(() => opened.close())
    proxy.silence({ deaf: true })
    const asked = opened.caughtUpTo(await log.headCursor(), AbortSignal.timeout(300))
    await expect(asked).rejects.toMatchObject({ code: 'ABORTED' })
  })

  it('closing ends, also where nothing is ever answered again', async () => {
    const { proxy, pool } = await behind(NEVER_MS)
    const { log, opened } = await tables(pool, 'closing')
    const held = await pool.connect()
    proxy.silence({ deaf: true })
    const lost = expect(held.query('select 1')).rejects.toMatchObject({ code: 'ETIMEDOUT' })
    add(log, 'after')
    await expect(opened.caughtUpTo(await log.headCursor(), AbortSignal.timeout(300))).rejects.toMatchObject({
      code: 'ABORTED',
    })
    await opened.close()
    await pool.shut(0)
    await lost
  })
})
