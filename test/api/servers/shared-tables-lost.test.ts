import { expect, it, onTestFinished } from 'vitest'
import { MemoryLeases } from '../../../adapters/memory/leases.ts'
import { SharedTables, type SharedTablesOptions } from '../../../api/process/servers/shared-tables.ts'
import type { Cursor } from '../../../domain/log/cursor.ts'
import { LogError } from '../../../domain/log/errors.ts'
import type { Leases } from '../../../domain/ports/index.ts'
import { selectRuns } from '../../../projections/agent/queries/runs.ts'
import { PostgresHome } from '../../../projections/engine/postgres/home.ts'
import { describeWithSharedPostgres } from '../../support/postgres/postgres.ts'
import { MemoryLog } from '../../support/projections/memory-log.ts'
import { schemasOf } from '../../support/projections/postgres-kit.ts'
import { Actor } from '../../support/projections/story.ts'
import { tell } from '../../support/projections/tell.ts'
import { standing } from '../../support/time/standing-clock.ts'

const numbers = Array.from({ length: 60 }, (_, i) => (i * 7919 + (i >> 3) * 31) % 1000)
const clock = standing()

/** A log whose server can be stopped, and started again on another state of it. */
function replaceable(first: MemoryLog) {
  let log = first
  let stop = new AbortController()
  async function* subscribe(from: Cursor | null, signal: AbortSignal) {
    for (let after = from; !signal.aborted; ) {
      for await (const page of log.subscribe(after, AbortSignal.any([signal, stop.signal]))) {
        after = log.cursor(page.at(-1)!)
        yield page
      }
    }
  }
  const get = (_: MemoryLog, name: keyof MemoryLog) => {
    const found: unknown = name === 'subscribe' ? subscribe : log[name]
    return typeof found === 'function' ? found.bind(log) : found
  }
  const putBack = (next: MemoryLog) => {
    log = next
    stop.abort(new Error('the server was stopped'))
    stop = new AbortController()
  }
  return { log: new Proxy(first, { get } as ProxyHandler<MemoryLog>), putBack }
}

describeWithSharedPostgres('tables of several processes that are another log’s, or lost', (server) => {
  const schemas = schemasOf(server)

  /** Openings of the tables of one schema, of any log; all are closed after the test. */
  function processes() {
    const [pool, schema, leases] = [schemas.pool(), schemas.fresh(), new MemoryLeases(clock)]
    const said: string[] = []
    const home = new PostgresHome({ pool, schema })
    const open = async (log: MemoryLog, holder = 'a', its: Partial<SharedTablesOptions> = {}) => {
      const warn = (text: string) => said.push(text)
      const options = { home, log, blobs: log.blobs, leases, clock, ttlMs: 200, holder, warn, ...its }
      const tables = await SharedTables.open(options)
      onTestFinished(() => tables.close())
      const current = async () => {
        await tables.caughtUpTo(await log.headCursor(), AbortSignal.timeout(100_000))
        return (await tables.read((db) => selectRuns(db))).data.runs.length
      }
      return { tables, current }
    }
    const there = async () => {
      const text = `select nspname as name from pg_namespace where nspname ~ '^${schema}(_|$)' order by 1`
      return (await pool.query<{ name: string }>(text)).rows.map(({ name }) => name)
    }
    return { open, said, home, pool, schema, there }
  }
  const other = () => {
    const log = new MemoryLog('another')
    new Actor(log, () => Date.UTC(2027, 0, 1), 'x', 'x').start()
    return log
  }

  it('a process on another log ends with the error at its start, changes nothing and lets no caller wait', async () => {
    const { open, home, said } = processes()
    const { log } = tell(numbers)
    const first = await open(log)
    const runs = await first.current()
    await first.tables.close()
    const wrong = open(other(), 'wrong')
    await expect(wrong).rejects.toMatchObject({ code: 'LOG_OTHER' })
    await expect(wrong).rejects.toThrow(
      'the tables are of the log log0, and the event store holds the log another; look',
    )
    said.length = 0
    expect([await home.live(), await (await open(log)).current(), said]).toEqual(['1', runs, []])
  })

  it('a process whose tables another log has taken over answers with the error at once, and leaves them alone', async () => {
    const { open, home } = processes()
    const { log } = tell(numbers)
    const mine = await open(log)
    await mine.current()
    const log2 = other()
    const { rebuildElsewhere } = await import('../../../projections/engine/other-process.ts')
    await rebuildElsewhere(home, { log: log2, blobs: log2.blobs }, { takeOver: true })
    const theirs = await open(log2, 'b')
    await expect(mine.tables.read((db) => selectRuns(db))).rejects.toMatchObject({ code: 'LOG_OTHER' })
    await expect.poll(() => mine.tables.moves).toBe(false)
    await expect(mine.current()).rejects.toMatchObject({ code: 'LOG_OTHER' })
    await expect(mine.tables.rebuild()).rejects.toMatchObject({ code: 'LOG_OTHER' })
    await expect(mine.tables.answers()).rejects.toMatchObject({ code: 'LOG_OTHER' })
    expect([await theirs.current(), await home.live()]).toEqual([1, '2'])
  })

  it('dropped under the process that moves them: answers wait, and they are back, which is told', async () => {
    const { open, said, pool, schema, there } = processes()
    const { log } = tell(numbers)
    const [mover, reader] = [await open(log), await open(log, 'b')]
    const runs = await mover.current()
    for (const [sql, told] of [
      [
        `drop schema ${schema} cascade; drop schema ${schema}_1 cascade`,
        /made anew, of the 28 events.*_1\.position is gone/,
      ],
      [`alter table ${schema}_2.runs drop column created_by cascade`, /made anew, of the 28 events.*_2\.runs has/],
      [`drop schema ${schema}_control cascade`, /the tables were made, of the 28 events/],
    ] as const) {
      said.length = 0
      await pool.query(sql)
      expect([sql, await reader.current()]).toEqual([sql, runs])
      await expect.poll(() => said).toContainEqual(expect.stringMatching(told))
    }
    expect(await reader.current()).toBe(runs)
    await expect.poll(there).toEqual([schema, `${schema}_4`, `${schema}_control`])
  })

  it('who was told more waits while they are made anew: the new ones, not full yet, are no answer', async () => {
    const { open, home, pool, schema } = processes()
    const { log } = tell(numbers)
    const mover = await open(log)
    const runs = await mover.current()
    const reads: Leases = { acquire: async () => false, release: async () => {} }
    const reader = await open(log, 'b', { leases: reads })
    expect(await reader.current()).toBe(runs)
    await mover.tables.close()
    await pool.query(
      `drop schema ${schema}_control cascade; drop schema ${schema} cascade; drop schema ${schema}_1 cascade`,
    )
    await home.live()
    const answer = reader.tables.read((db) => selectRuns(db))
    await open(log)
    expect((await answer).data.runs.length).toBe(runs)
  })

  it('what is behind answers is asked at once: the tables, and the leases, of which none is given back', async () => {
    const { open, pool, schema } = processes()
    const { log } = tell(numbers)
    let refused = false
    const given: string[] = []
    const release = async (name: string, holder: string) => {
      if (refused) throw new LogError('LOG_REFUSED', 'the leases are gone')
      given.push(`${name} ${holder}`)
    }
    const reads: Leases = { acquire: async () => false, release }
    const mover = await open(log)
    const { tables, current } = await open(log, 'b', { leases: reads })
    await current()
    await tables.answers()
    expect(given).toEqual(['.unheld b'])
    refused = true
    await expect(tables.answers()).rejects.toMatchObject({ code: 'LOG_REFUSED' })
    refused = false
    await mover.tables.close()
    await pool.query(`drop schema ${schema}_control cascade`)
    await expect(tables.answers()).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('found altered by what is written next: a waiting caller is answered when they are made anew', async () => {
    const { open, pool, schema } = processes()
    const { log } = tell(numbers)
    // So long that nothing else comes upon it first.
    const { tables, current } = await open(log, 'a', { ttlMs: 3_600_000 })
    const runs = await current()
    await expect.poll(() => tables.moves).toBe(true)
    await pool.query(`alter table ${schema}_1.runs drop column created_by cascade`)
    new Actor(log, () => Date.UTC(2027, 0, 1), 'more', 'more').start()
    expect(await current()).toBe(runs + 1)
  })

  it('tables of which nothing is there are told to be made, where the log holds something', async () => {
    const { open, said, pool, schema } = processes()
    await (await open(new MemoryLog())).tables.close()
    expect(said).toEqual([])
    await pool.query(`drop schema ${schema}_control cascade`)
    await (await open(tell(numbers).log)).current()
    await expect
      .poll(() => said)
      .toEqual([
        expect.stringMatching(/^the tables are missing; they are made anew of the log/),
        'the tables were made, of the 28 events that the log holds',
      ])
  })

  it('an older log under newer tables: it is told, with both counts', async () => {
    const { open, said } = processes()
    const { log } = tell(numbers)
    const events = log.events.length
    new Actor(log, () => Date.UTC(2027, 0, 1), 'lost', 'lost').start()
    const first = await open(log)
    const shown = await first.current()
    await first.tables.close()
    said.length = 0
    expect(await (await open(tell(numbers).log)).current()).toBe(shown - 1)
    const why = `of the ${events} events that the log holds: the tables show ${log.events.length} events up to position`
    await expect.poll(() => said).toEqual([expect.stringMatching(`^the tables were made anew, ${why}.* is lost$`)])
  })

  it('an older log put back under those that have reported a newer one: all of them answer from it', async () => {
    const { open } = processes()
    const [newer, older] = [tell(numbers).log, tell(numbers).log]
    for (const id of ['lost', 'too']) new Actor(newer, () => Date.UTC(2027, 0, 1), id, id).start()
    const { log, putBack } = replaceable(newer)
    const [mover, reader] = [await open(log), await open(log, 'b')]
    const runs = await mover.current()
    expect(await reader.current()).toBe(runs)
    putBack(older)
    for (const { current } of [mover, reader]) await expect.poll(current).toBe(runs - 2)
    // Nothing of what was told before counts any more.
    new Actor(older, () => Date.UTC(2027, 0, 1), 'next', 'next').start()
    expect([await mover.current(), await reader.current()]).toEqual([runs - 1, runs - 1])
  })
})
