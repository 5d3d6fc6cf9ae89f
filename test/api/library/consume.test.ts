import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Kysely, SqliteDialect, sql } from 'kysely'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { type KeepUp, openKeepUp, type RowHandler } from '../../../api/index.ts'
import { type EventView, forgetPosition, readPosition, testProjection } from '../../../api/library/consumers-kit.ts'
import { PROOF_STREAM } from '../../../domain/proof/kind.ts'
import { freshFolders, tempFolder } from '../../support/folders.ts'
import { eventsIn } from '../support/http.ts'

// Consumers of the library, and rows of a program's own database.

let folders: ReturnType<typeof freshFolders>
let keepup: KeepUp
const start = async (task: string) => {
  const { runId } = await keepup.start({ task, model: 'scripted:hello' })
  await keepup.drive(runId)
  return runId
}
beforeAll(async () => {
  folders = freshFolders()
  keepup = await openKeepUp({
    data: folders.data,
    by: 'ada',
    scripts: { hello: { script: 1, turns: [{ text: 'Hi.' }] } },
  })
  await start('one')
  // The first signed head records its key in the log. The tests compare what was read with the whole log.
  await vi.waitFor(async () => expect(await keepup.services.log.head(PROOF_STREAM)).not.toBeNull(), { timeout: 30_000 })
})
afterAll(async () => {
  await keepup.close()
  folders.remove()
})

const idsOfLog = async () => (await eventsIn(keepup.services)).map(({ id }) => id)
const idsOf = (events: readonly EventView[]) => events.map(({ id }) => id)

test('the handler gets every event in order, once, and a handler that fails gets its events again', async () => {
  const got: string[] = []
  await keepup.consume({ name: 'all', once: true }, (events) => void got.push(...idsOf(events)))
  expect(got).toEqual(await idsOfLog())
  await keepup.consume({ name: 'all', once: true }, () => expect.unreachable('nothing is new'))
  await start('two')
  const failing = keepup.consume({ name: 'all', once: true }, () => Promise.reject(new Error('no room')))
  await expect(failing).rejects.toThrow('no room')
  await keepup.consume({ name: 'all', once: true }, (events) => void got.push(...idsOf(events)))
  expect(got).toEqual(await idsOfLog())
})

test('it follows the log until its signal, and ends for another reader', async () => {
  const over = new AbortController()
  const [first, second]: [string[], string[]] = [[], []]
  const one = keepup.consume({ name: 'live', from: 'end' }, (events) => void first.push(...idsOf(events)))
  await start('three')
  await expect.poll(() => first.length).toBeGreaterThan(5)
  const refused = expect(one).rejects.toMatchObject({ code: 'CONSUMER_TAKEN' })
  await expect.poll(async () => (await keepup.services.consumers.get('live')).lag).toBe(0)
  const two = keepup.consume({ name: 'live', signal: over.signal }, (events) => void second.push(...idsOf(events)))
  await refused
  await start('four')
  await expect.poll(async () => (await keepup.services.consumers.get('live')).lag).toBe(0)
  over.abort()
  await two
  // An event that the first reader had not acked comes again.
  const got = [...new Set([...first, ...second])]
  const all = await idsOfLog()
  expect(got).toEqual(all.slice(all.indexOf(got[0]!)).slice(0, got.length))
  expect(second.length).toBeGreaterThan(5)
})

test('options that do not fit are refused', async () => {
  const nothing = () => undefined
  const wrong = { filter: { types: ['nothing'] } } as const
  await expect(keepup.consume({ name: 'x', ...(wrong as object) }, nothing)).rejects.toMatchObject({
    code: 'INVALID_REQUEST',
  })
  await expect(keepup.consume({ name: 'X' }, nothing)).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
})

interface Tables {
  seen: { id: string; place: number }
}

function openRows(file = join(tempFolder(), 'rows.db')): Kysely<Tables> {
  const database = new DatabaseSync(file)
  database.exec('create table if not exists seen (id text not null, place integer primary key)')
  const prepare = (text: string) => {
    const statement = database.prepare(text)
    type Values = Parameters<typeof statement.all>
    return {
      reader: statement.columns().length > 0,
      all: (values: readonly unknown[]) => statement.all(...(values as Values)),
      run: (values: readonly unknown[]) => statement.run(...(values as Values)),
      iterate: (values: readonly unknown[]) => statement.iterate(...(values as Values)),
    }
  }
  const db = new Kysely<Tables>({
    dialect: new SqliteDialect({ database: { prepare, close: () => database.close() } }),
  })
  onTestFinished(() => db.destroy())
  return db
}

const countingHandler: RowHandler<Tables> = async (events, tx) => {
  for (const { id } of events) {
    const next = sql<number>`(select count(*) from seen)`
    await tx.insertInto('seen').values({ id, place: next }).execute()
  }
}
const seenIn = async (db: Kysely<Tables>) =>
  (await db.selectFrom('seen').select('id').orderBy('place').execute()).map(({ id }) => id)

test('rows and position are stored together: after a failure nothing is missing or twice', async () => {
  const db = openRows()
  let calls = 0
  const failing: RowHandler<Tables> = async (events, tx) => {
    await countingHandler(events, tx)
    calls += 1
    if (calls === 1) throw new Error('killed')
  }
  const consumer = { name: 'rows', once: true, positionIn: db }
  await expect(keepup.consume(consumer, failing)).rejects.toThrow('killed')
  expect(await seenIn(db)).toEqual([])
  await keepup.consume(consumer, failing)
  expect(await seenIn(db)).toEqual(await idsOfLog())
  await start('five')
  await keepup.consume(consumer, countingHandler)
  expect(await seenIn(db)).toEqual(await idsOfLog())
  expect((await keepup.services.consumers.get('rows')).position).toBe(await readPosition(db, 'rows'))
  // A rebuild begins where the consumer began.
  await db.transaction().execute(async (tx) => {
    await tx.deleteFrom('seen').execute()
    await forgetPosition(tx, 'rows')
  })
  await keepup.consume(consumer, countingHandler)
  expect(await seenIn(db)).toEqual(await idsOfLog())
})

test('of two processes with the same rows one fails, and the rows are right', async () => {
  const db = openRows()
  let other: Promise<void> | null = null
  const slow: RowHandler<Tables> = async (events, tx) => {
    await countingHandler(events, tx)
  }
  const consumer = { name: 'pair', once: true, positionIn: db }
  const first = keepup.consume(consumer, slow)
  other = keepup.consume({ ...consumer }, slow)
  const ends = await Promise.allSettled([first, other])
  for (const end of ends)
    if (end.status === 'rejected') expect(['CONFLICT', 'CONSUMER_TAKEN']).toContain(end.reason.code)
  await keepup.consume(consumer, slow)
  expect(await seenIn(db)).toEqual(await idsOfLog())
})

test('testProjection shows the rows of given events, after a crash and after a rebuild the same', async () => {
  const db = openRows()
  const clear: RowHandler<Tables> = (_, tx) => tx.deleteFrom('seen').execute()
  const tested = await testProjection({ db, handler: countingHandler, clear: (tx) => Promise.resolve(clear([], tx)) })
  const completion = { type: 'completion', payload: { summary: 'done' } } as const
  await tested.given(completion, completion)
  await tested.crash(completion)
  const rows = await seenIn(db)
  expect(rows).toHaveLength(3)
  expect(new Set(rows).size).toBe(3)
  for (const batch of [1, 2, 3]) {
    await tested.rebuild(batch)
    expect(await seenIn(db)).toEqual(rows)
  }
})

test('testProjection shows a handler that keeps something outside of its rows', async () => {
  const db = openRows()
  let place = 0
  const handler: RowHandler<Tables> = async (events, tx) => {
    for (const { id } of events) await tx.insertInto('seen').values({ id, place: place++ }).execute()
  }
  const tested = await testProjection({ db, handler, clear: (tx) => tx.deleteFrom('seen').execute() })
  await tested.given({ type: 'completion', payload: null })
  await tested.rebuild()
  expect(await db.selectFrom('seen').select('place').execute()).not.toEqual([{ place: 0 }])
})
