import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { rebuildElsewhere } from '../../projections/engine/other-process.ts'
import { PostgresHome } from '../../projections/engine/postgres/home.ts'
import { openPool } from '../../projections/engine/postgres/pool.ts'
import type { Home } from '../../projections/engine/store/home.ts'
import { SqliteHome } from '../../projections/engine/store/sqlite-home.ts'
import { Projections } from '../../projections/projections.ts'
import { tempFolder } from '../support/folders.ts'
import { describeWithSharedPostgres } from '../support/postgres/postgres.ts'
import { numbers, rebuilding } from '../support/projections/rebuilding.ts'
import { tell } from '../support/projections/tell.ts'

/** A home whose pointer cannot be moved, as after a restart of its server in that moment. */
function stuck<H extends Home>(home: H): H {
  home.pointTo = () => Promise.reject(new Error('restarted just then'))
  return home
}

const story = () => tell(numbers.slice(0, 60)).log

it('a switch that fails leaves no file behind', async () => {
  const log = story()
  const folder = join(tempFolder(), 'tables')
  const sources = { log, blobs: log.blobs }
  await (await Projections.open({ ...sources, folder })).close()
  // A reader leaves files beside the live one.
  const files = () => readdirSync(folder).filter((name) => !name.startsWith('tables-1.db-'))
  const before = files()
  for (const rebuild of [
    async () => rebuildElsewhere(stuck(new SqliteHome(folder)), sources),
    async () => {
      const projections = await Projections.open({ ...sources, home: stuck(new SqliteHome(folder)) })
      try {
        await projections.rebuild()
      } finally {
        await projections.close()
      }
    },
  ]) {
    await expect(rebuild()).rejects.toThrow('restarted just then')
    expect(files()).toEqual(before)
  }
})

describeWithSharedPostgres('a switch that fails', (server) => {
  const { open } = rebuilding(server)

  /** A home of its own pool over the same tables, and how many of its connections are taken. */
  function another(schema: string) {
    const pool = openPool({ url: server().url })
    onTestFinished(() => pool.end())
    return { home: new PostgresHome({ pool, schema }), pool, used: () => pool.totalCount - pool.idleCount }
  }

  it('leaves no tables and no connection behind, and the live ones go on', async () => {
    const log = story()
    const { schema, there } = await open(log)
    const before = await there()
    const { home, used } = another(schema)
    const projections = await Projections.open({ log, blobs: log.blobs, home })
    const end = new AbortController()
    const running = projections.run(end.signal)
    const inUse = used()
    const pointTo = home.pointTo.bind(home)
    stuck(home)
    for (let i = 0; i < 2; i++) await expect(projections.rebuild()).rejects.toThrow('restarted just then')
    expect([await there(), used()]).toEqual([before, inUse])
    home.pointTo = pointTo
    expect(await projections.rebuild()).toMatchObject({ switched: true })
    expect(used()).toBe(inUse)
    end.abort()
    await running
    await projections.close()
    expect(used()).toBe(0)
  })

  it('neither where another process rebuilds, nor at a start that makes the tables anew', async () => {
    const log = story()
    const { schema, there, pool } = await open(log)
    const before = await there()
    const { home, used } = another(schema)
    await expect(rebuildElsewhere(stuck(home), { log, blobs: log.blobs })).rejects.toThrow('restarted just then')
    await pool.query(`update ${schema}_control.generations set meaning = 1`)
    await expect(Projections.open({ log, blobs: log.blobs, home })).rejects.toThrow('restarted just then')
    expect([await there(), used()]).toEqual([before, 0])
  })
})
