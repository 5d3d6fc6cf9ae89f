import type pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { selectRuns } from '../../../projections/agent/queries/runs.ts'
import { PostgresHome } from '../../../projections/engine/postgres/home.ts'
import { openPool } from '../../../projections/engine/postgres/pool.ts'
import { Projections } from '../../../projections/projections.ts'
import { killedContract } from '../../contracts/projections/killed.ts'
import { describeWithPostgres, type PostgresServer } from '../../support/postgres/postgres.ts'
import { folded } from '../../support/projections/kit.ts'
import { dumpSchema, postgresKit } from '../../support/projections/postgres-kit.ts'
import { Actor } from '../../support/projections/story.ts'
import { tell } from '../../support/projections/tell.ts'

const numbers = Array.from({ length: 900 }, (_, i) => (i * 7919 + (i >> 3) * 31) % 1000)

/** Calls back at each statement that a pool's connections send, before and after it. */
function watch(pool: pg.Pool, at: (text: string, when: 'before' | 'after') => void | Promise<void>): void {
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>
    client.query = (async (...args: unknown[]) => {
      const [first] = args as [string | { text: string }]
      const text = typeof first === 'string' ? first : first.text
      await at(text, 'before')
      const result = await query(...args)
      await at(text, 'after')
      return result
    }) as never
  })
}

function crash(server: PostgresServer): void {
  server.stop('immediate')
  server.start()
}

describeWithPostgres('PostgreSQL that crashes', (server) => {
  const kit = postgresKit(server)
  const poolOf = () => {
    const pool = openPool({ url: server().url })
    onTestFinished(() => pool.end())
    return pool
  }

  it.each([
    ['before a batch', 'begin', 'after'],
    ['in the middle of a batch', 'insert into tool_calls', 'after'],
    ['before a commit', 'commit', 'before'],
    ['after a commit without an answer', 'commit', 'after'],
    ['while it is asked what stands', 'select stream, run_id', 'before'],
  ] as const)('%s: the projector goes on, nothing is lost and nothing twice', async (where, text, when) => {
    const { log } = tell(numbers)
    log.pages = () => 40
    const pool = poolOf()
    const schema = `crash${where.replaceAll(/\W/g, '')}`
    let [seen, crashes, opening, armed] = [0, 0, false, false]
    watch(pool, (sent, now) => {
      // Not what is looked at before the first batch.
      if (opening) armed ||= sent.startsWith('select stream, run_id')
      if (!armed || now !== when || !sent.startsWith(text) || ++seen % 3 !== 0 || crashes === 2) return
      crashes++
      crash(server())
      // The answer, if it came at all, is not heard.
      throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
    })
    const home = new PostgresHome({ pool, schema })
    await home.live()
    opening = true
    const projections = await Projections.open({ log, blobs: log.blobs, home })
    opening = armed = false
    expect(crashes).toBe(2)
    expect(projections.status().progress.events).toBe(log.events.length)
    await projections.close()
    expect(await dumpSchema(pool, `${schema}_1`)).toEqual(await folded(log, kit))
  })

  killedContract(kit, async () => {
    const [pool, schema] = [poolOf(), 'killed']
    const home = new PostgresHome({ pool, schema })
    const name = await home.live()
    const tables = { open: () => home.open(name), dump: () => dumpSchema(pool, `${schema}_${name}`) }
    return { tables, where: [server().url, schema] }
  })

  it('a writer that hangs within a batch delays no other writer, and learns of its loss when it goes on', async () => {
    const { log } = tell(numbers)
    log.pages = () => 40
    const [hanging, pool] = [poolOf(), poolOf()]
    const [hung, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    onTestFinished(() => go.resolve())
    watch(hanging, (sent, now) => {
      if (now !== 'after' || !sent.startsWith('insert into tool_calls')) return
      hung.resolve()
      return go.promise
    })
    const open = async (from: pg.Pool, hungAfterMs: number) => {
      const home = new PostgresHome({ pool: from, schema: 'hung', hungAfterMs })
      return Projections.open({ log, blobs: log.blobs, home })
    }
    const first = open(hanging, 300)
    const told = expect(first).rejects.toMatchObject({ code: 'POSITION_TAKEN' })
    await hung.promise
    const other = await open(pool, 60_000)
    expect(other.status().progress.events).toBe(log.events.length)
    await other.close()
    go.resolve()
    await told
    expect(await dumpSchema(pool, 'hung_1')).toEqual(await folded(log, kit))
  })

  it('while a projector follows and people read: both find it again', async () => {
    const { log, actors } = tell(numbers)
    const pool = poolOf()
    const projections = await Projections.open({
      log,
      blobs: log.blobs,
      home: new PostgresHome({ pool, schema: 'live' }),
    })
    const end = new AbortController()
    const running = projections.run(end.signal)
    for (let i = 0; i < 2; i++) {
      const reads = Array.from({ length: 6 }, () => projections.read((db) => selectRuns(db)))
      await Promise.all(reads)
      crash(server())
      await Promise.all(Array.from({ length: 6 }, () => projections.read((db) => selectRuns(db))))
      actors[0]!.user('user_input', { text: `after crash ${i}` })
      await projections.caughtUpTo(await log.headCursor())
      const again = Array.from({ length: 6 }, () => projections.read((db) => selectRuns(db)))
      for (const { position } of await Promise.all(again)) expect(position).toEqual(await log.headCursor())
    }
    end.abort()
    await running
    await projections.close()
    expect(await dumpSchema(pool, 'live_1')).toEqual(await folded(log, kit))
  })

  it('and does not come back: both say so when their patience ends', async () => {
    const { log } = tell(numbers)
    const pool = poolOf()
    const home = new PostgresHome({ pool, schema: 'gone', patienceMs: 50 })
    const projections = await Projections.open({ log, blobs: log.blobs, home })
    const named = expect.objectContaining({ name: 'ProjectionError', code: 'UNAVAILABLE' })
    server().stop('immediate')
    onTestFinished(() => server().start())
    new Actor(log, () => Date.UTC(2027, 0, 1), 'new', 'new').start()
    await expect(projections.catchUp()).rejects.toEqual(named)
    await expect(projections.read((db) => selectRuns(db))).rejects.toEqual(named)
    await expect(projections.rebuild()).rejects.toEqual(named)
    await projections.close()
  })
})
