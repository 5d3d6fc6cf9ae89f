import { expect, it, onTestFinished } from 'vitest'
import { MemoryLeases } from '../../../adapters/memory/leases.ts'
import { SharedTables } from '../../../api/process/servers/shared-tables.ts'
import type { Clock, Leases } from '../../../domain/ports/index.ts'
import { rebuildElsewhere } from '../../../projections/engine/other-process.ts'
import { PostgresHome } from '../../../projections/engine/postgres/home.ts'
import { describeWithPostgres } from '../../support/postgres/postgres.ts'
import { folded } from '../../support/projections/kit.ts'
import type { MemoryLog } from '../../support/projections/memory-log.ts'
import { dumpSchema, postgresKit, schemasOf } from '../../support/projections/postgres-kit.ts'
import { Actor } from '../../support/projections/story.ts'
import { tell } from '../../support/projections/tell.ts'
import { standing } from '../../support/time/standing-clock.ts'

// Several processes over one log and one set of tables, as several openings of the tables in this one.

const numbers = Array.from({ length: 300 }, (_, i) => (i * 7919 + (i >> 3) * 31) % 1000)
/** No lease passes by itself here, however long the machine takes. */
const clock = standing()
/** How often the process that moves the tables looks for what else is to be done, ms: like nothing else here. */
const WATCH_MS = 51
/** The clock, and what was waited for by it, ms. */
function counting() {
  const waits: number[] = []
  let watching = 0
  const counted: Clock = {
    now: () => clock.now(),
    async sleep(ms, signal) {
      waits.push(ms)
      if (ms === WATCH_MS) watching++
      await clock.sleep(ms, signal).finally(() => ms === WATCH_MS && watching--)
    },
  }
  return { counted, waits, watching: () => watching }
}

/** Leases that cannot be had so often. */
function failingFirst(times: number): Leases {
  const leases = new MemoryLeases(clock)
  let tries = 0
  return {
    acquire: async (...asked) => {
      if (tries++ < times) throw new Error('the leases are gone')
      return leases.acquire(...asked)
    },
    release: (...asked) => leases.release(...asked),
  }
}

/** Not that tables are made for the first time. */
const isFault = (text: string) => !/the tables (are missing|were made)/.test(text)

describeWithPostgres('tables of several processes', (server) => {
  const kit = postgresKit(server)
  const schemas = schemasOf(server)

  /** Openings of the same tables; all are closed after the test. */
  function processes(log: MemoryLog, schema: string, leases: Leases = new MemoryLeases(clock), its = clock) {
    const said: string[] = []
    const open = async (holder: string, ttlMs = 400) => {
      const home = new PostgresHome({ pool: schemas.pool(), schema })
      const warn = (text: string) => said.push(`${holder} ${text}`)
      const options = { home, log, blobs: log.blobs, leases, clock: its, ttlMs, holder, warn }
      const tables = await SharedTables.open(options)
      onTestFinished(() => tables.close())
      return tables
    }
    const live = async () =>
      dumpSchema(schemas.pool(), `${schema}_${await new PostgresHome({ pool: schemas.pool(), schema }).live()}`)
    return { open, live, said }
  }
  const soon = () => AbortSignal.timeout(100_000)
  const add = (log: MemoryLog, id: string) => new Actor(log, () => Date.UTC(2027, 0, 1), id, id).start()

  it('one moves them, all are told how far they are, and another one goes on when it is closed', async () => {
    const { log } = tell(numbers)
    const { open, live, said } = processes(log, schemas.fresh())
    const [a, b] = [await open('a'), await open('b')]
    await Promise.all([a, b].map(async (tables) => tables.caughtUpTo(await log.headCursor(), soon())))
    const [mover, reader] = a.moves ? [a, b] : [b, a]
    expect([mover.moves, reader.moves]).toEqual([true, false])
    add(log, 'later')
    await reader.caughtUpTo(await log.headCursor(), soon())
    await mover.close()
    add(log, 'last')
    await reader.caughtUpTo(await log.headCursor(), soon())
    expect(reader.moves).toBe(true)
    expect(await live()).toEqual(await folded(log, kit))
    expect(said[0]).toMatch(/^a the tables are missing; they are made anew of the log/)
    const made = `the tables were made, of the ${tell(numbers).log.events.length} events that the log holds`
    expect(said.filter((text) => text.endsWith(made)).length).toBe(1)
    expect(said.filter(isFault)).toEqual([])
  })

  it('two that both believe to be the one keep each other out: nothing is lost, nothing twice', async () => {
    const { log } = tell(numbers)
    log.pages = () => 7
    const yes: Leases = { acquire: async () => true, release: async () => {} }
    const { open, live } = processes(log, schemas.fresh(), yes)
    const both = await Promise.all([open('a', 100), open('b', 100)])
    for (let n = 0; n < 5; n++) {
      add(log, `more${n}`)
      for (const tables of both) await tables.caughtUpTo(await log.headCursor(), soon())
    }
    expect(await live()).toEqual(await folded(log, kit))
  })

  it('who does not move them can rebuild them, and the new ones are moved on', async () => {
    const { log } = tell(numbers)
    const { open, live } = processes(log, schemas.fresh())
    const mover = await open('a')
    await mover.caughtUpTo(await log.headCursor(), soon())
    const reader = await open('b')
    expect(await reader.rebuild()).toMatchObject({ switched: true, differences: [] })
    add(log, 'later')
    await reader.caughtUpTo(await log.headCursor(), soon())
    expect(await live()).toEqual(await folded(log, kit))
    const other = [mover, reader].find(({ moves }) => !moves)!
    await expect(other.release('no-such')).rejects.toMatchObject({ code: 'NOT_PARKED' })
  })

  it('an older log under newer tables is noticed, and they are made anew', async () => {
    const schema = schemas.fresh()
    const newer = tell(numbers)
    add(newer.log, 'as it was')
    const before = processes(newer.log, schema)
    const tables = await before.open('a')
    await tables.caughtUpTo(await newer.log.headCursor(), soon())
    await tables.close()
    // The same log from a backup, gone on otherwise, to the very same position.
    const older = tell(numbers)
    add(older.log, 'otherwise')
    expect((await older.log.headCursor()).position).toBe((await newer.log.headCursor()).position)
    const after = processes(older.log, schema)
    const restored = await after.open('b')
    await restored.caughtUpTo(await older.log.headCursor(), soon())
    expect(await after.live()).toEqual(await folded(older.log, kit))
  })

  it('who loses its place again and again is back as soon each time, and leaves nothing running', async () => {
    const { log } = tell(numbers)
    const { counted, waits, watching } = counting()
    const { open, said } = processes(log, schemas.fresh(), undefined, counted)
    const tables = await open('a', 2 * WATCH_MS)
    const other = new PostgresHome({ pool: schemas.pool(), schema: schemas.last() })
    for (let n = 0; n < 3; n++) {
      await tables.caughtUpTo(await log.headCursor(), soon())
      await rebuildElsewhere(other, { log, blobs: log.blobs })
      add(log, `after${n}`)
    }
    await tables.caughtUpTo(await log.headCursor(), soon())
    expect(watching()).toBeLessThanOrEqual(1)
    expect(said.filter(isFault)).toEqual([])
    // What a pause grows to where one try after the other comes to nothing.
    expect([4, 8, 16].filter((times) => waits.includes(times * WATCH_MS))).toEqual([])
  })

  it('what failed before it moved them delays nothing after', async () => {
    const { log } = tell(numbers)
    const { counted, waits } = counting()
    const { open } = processes(log, schemas.fresh(), failingFirst(3), counted)
    const tables = await open('a', 2 * WATCH_MS)
    await tables.caughtUpTo(await log.headCursor(), soon())
    expect(waits).toContain(4 * WATCH_MS)
    waits.length = 0
    await rebuildElsewhere(new PostgresHome({ pool: schemas.pool(), schema: schemas.last() }), {
      log,
      blobs: log.blobs,
    })
    add(log, 'after')
    await tables.caughtUpTo(await log.headCursor(), soon())
    expect(waits).not.toContain(4 * WATCH_MS)
  })

  it('what was still read while tables were rebuilt goes by itself when it is read no longer', async () => {
    const { log } = tell(numbers)
    const { open } = processes(log, schemas.fresh())
    const tables = await open('a', 40)
    await tables.caughtUpTo(await log.headCursor(), soon())
    const reader = await schemas.pool().connect()
    onTestFinished(() => reader.release(true))
    const old = `${schemas.last()}_1`
    await reader.query(`begin; select * from ${old}.runs`)
    await tables.rebuild()
    const there = async () =>
      (await schemas.pool().query('select from pg_namespace where nspname = $1', [old])).rowCount
    expect(await there()).toBe(1)
    await reader.query('commit')
    await expect.poll(there).toBe(0)
  })

  it('what a newer program drives is left to it, with the lease', async () => {
    const { log } = tell(numbers)
    const leases = new MemoryLeases(clock)
    const { open, said } = processes(log, schemas.fresh(), leases)
    const tables = await open('a', 40)
    await tables.caughtUpTo(await log.headCursor(), soon())
    const actor = new Actor(log, () => Date.UTC(2027, 0, 1), 'newer', 'newer')
    actor.start()
    actor.write('driver_claimed', { driverId: 'd', epoch: 1, minReader: 2, keepup: 'b' })
    // No lease passes by itself here: it was given back.
    await expect.poll(() => leases.acquire('.projector', 'newer', 1000)).toBe(true)
    expect(said.filter(isFault)).toEqual([expect.stringContaining('driven by a newer program')])
  })

  it('what stopped a projector is told once, and it is tried again', async () => {
    const { log } = tell(numbers)
    const { open, said } = processes(log, schemas.fresh(), failingFirst(2))
    const tables = await open('a', 40)
    await tables.caughtUpTo(await log.headCursor(), soon())
    const gone = expect.stringContaining('a the tables: Error: the leases are gone')
    await expect.poll(() => said.filter(isFault)).toEqual([gone, 'a the tables: this process moves them now'])
  })

  it('where no process can move them it is told what to look for', async () => {
    const { log } = tell(numbers)
    const no: Leases = { acquire: async () => false, release: async () => {} }
    const { open } = processes(log, schemas.fresh(), no)
    const tables = await open('a')
    await expect(tables.caughtUpTo(await log.headCursor(), AbortSignal.timeout(100))).rejects.toMatchObject({
      code: 'ABORTED',
      message: expect.stringContaining('see that a process runs that moves them'),
    })
  })
})
