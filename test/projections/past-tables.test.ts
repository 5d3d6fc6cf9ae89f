import { existsSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { Projector } from '../../projections/engine/projector/projector.ts'
import { SqliteHome } from '../../projections/engine/store/sqlite-home.ts'
import { foldPast, PastTables, type PastTablesOptions } from '../../projections/past-tables.ts'
import { tempFolder } from '../support/folders.ts'
import { dumpFile, sqliteKit } from '../support/projections/kit.ts'
import type { MemoryLog } from '../support/projections/memory-log.ts'
import { numbers } from '../support/projections/rebuilding.ts'
import { tell } from '../support/projections/tell.ts'

const pastIn = (folder: string) => readdirSync(folder).filter((name) => /^past-.*\.db$/.test(name))
const cursorAt = (log: MemoryLog, place: number) => log.cursor(log.events.at(place)!)
const path = async (file: { readonly path: string }) => file.path

/** Live tables of a log, and the tables of its past beside them. */
async function beside(log: MemoryLog, options: Partial<PastTablesOptions> = {}) {
  const folder = tempFolder()
  const home = new SqliteHome(folder)
  const { name, store } = await home.fresh()
  onTestFinished(() => store.close())
  const live = new Projector({ log, blobs: log.blobs, store })
  await live.catchUp()
  await home.pointTo(name)
  const erasures = async () => log.events.filter(({ erased }) => erased).length
  const past = new PastTables({ folder, erasures, keeps: true, fold: foldPast({ log, blobs: log.blobs }), ...options })
  return { folder, home, live, past }
}

/** Tables that were folded when the log ended at a cursor. */
async function foldedThen(log: MemoryLog, cursor: { readonly position: number }) {
  const { open, dump } = await sqliteKit.fresh()
  const store = await open()
  onTestFinished(() => store.close())
  log.visible = log.events.findIndex(({ position }) => position === cursor.position) + 1
  await new Projector({ log, blobs: log.blobs, store }).catchUp()
  log.visible = Number.MAX_SAFE_INTEGER
  return dump()
}

it('tables at a position are those that were live when the log ended there', async () => {
  const { log } = tell(numbers, false)
  const { past } = await beside(log)
  for (const place of [1, Math.floor(log.events.length / 2), -1]) {
    const cursor = cursorAt(log, place)
    const shown = await past.at(cursor, async (file) => ({ ...file, rows: dumpFile(file.path) }))
    expect(shown).toMatchObject({ erasedLater: 0, rows: await foldedThen(log, cursor) })
  }
})

it('a file is made once, and the files of the positions that were used last are kept', async () => {
  const { log } = tell(numbers, false)
  const { folder, past } = await beside(log)
  const reads: number[] = []
  const { readAll } = log
  log.readAll = (...asked) => {
    reads.push(1)
    return readAll.apply(log, asked)
  }
  for (const place of [5, 6, 7, 8, 5, 9]) await past.at(cursorAt(log, place), path)
  expect(reads.length).toBe(5)
  expect(pastIn(folder)).toHaveLength(4)
  await past.at(cursorAt(log, 5), path)
  expect(reads.length).toBe(5)
})

it('a fold starts from the kept file before its position, and from the first event without a usable one', async () => {
  const { log } = tell(numbers, false)
  const { folder, past } = await beside(log)
  const starts: unknown[] = []
  const { readAll } = log
  log.readAll = (after, options) => {
    starts.push(after?.position ?? null)
    return readAll.call(log, after, options)
  }
  const [early, late, last] = [5, 20, 25].map((place) => cursorAt(log, place))
  await past.at(late!, path)
  await past.at(early!, path)
  const shown = await past.at(last!, async (file) => ({ ...file, rows: dumpFile(file.path) }))
  expect(starts).toEqual([null, null, late!.position])
  expect(shown).toMatchObject({ erasedLater: 0, rows: await foldedThen(log, last!) })
  for (const name of pastIn(folder)) writeFileSync(join(folder, name), 'no tables')
  expect(await past.at(cursorAt(log, 22), async ({ path }) => dumpFile(path))).toEqual(
    await foldedThen(log, cursorAt(log, 22)),
  )
})

it('the file of the current question stays when the clock steps back', async () => {
  const { log } = tell(numbers, false)
  const { folder, past } = await beside(log)
  for (const place of [5, 6, 7, 8]) await past.at(cursorAt(log, place), path)
  const later = new Date(Date.now() + 3_600_000)
  for (const name of pastIn(folder)) utimesSync(join(folder, name), later, later)
  expect(await past.at(cursorAt(log, 9), async (file) => existsSync(file.path))).toBe(true)
  expect(pastIn(folder)).toHaveLength(4)
})

it('a process that does not own the folder leaves no file, also after a failure', async () => {
  const { log } = tell(numbers, false)
  const { folder, past } = await beside(log, { keeps: false })
  expect(await past.at(cursorAt(log, 9), async (file) => dumpFile(file.path))).toEqual(
    await foldedThen(log, cursorAt(log, 9)),
  )
  expect(pastIn(folder)).toEqual([])
  const failed = past.at(cursorAt(log, 9), async () => Promise.reject(new Error('the query failed')))
  await expect(failed).rejects.toThrow('the query failed')
  expect(pastIn(folder)).toEqual([])
})

it('a removed file is made again for a question that it failed', async () => {
  const { log } = tell(numbers, false)
  const { folder, home, past } = await beside(log, { keeps: false })
  let tries = 0
  const asked = past.at(cursorAt(log, 9), async (file) => {
    if (++tries === 1) await home.dropOthers()
    return dumpFile(file.path).inputs!.length
  })
  expect(await asked).toBeGreaterThan(0)
  expect([tries, pastIn(folder)]).toEqual([2, []])
})

it.each([true, false])('a fold ends with its signal, and leaves no file (keeps: %s)', async (keeps) => {
  const { log } = tell(numbers, false)
  const { folder, past } = await beside(log, { keeps })
  log.pages = () => 3
  const over = new AbortController()
  const { readAll } = log
  log.readAll = async function* (...asked) {
    for await (const page of readAll.apply(log, asked)) {
      over.abort(new Error('the client left'))
      yield page
    }
  }
  await expect(past.at(cursorAt(log, 20), path, over.signal)).rejects.toThrow('the client left')
  expect(pastIn(folder)).toEqual([])
})

it('a disk with less than twice the size of the live tables is refused', async () => {
  const { log } = tell(numbers, false)
  const { folder, past } = await beside(log, { free: () => 100 })
  await expect(past.at(cursorAt(log, 20), path)).rejects.toMatchObject({ code: 'FULL' })
  expect(pastIn(folder)).toEqual([])
})

it('an erased text is not shown, although the live tables have not followed the erasure', async () => {
  const { log, actors } = tell(numbers, false)
  const { past } = await beside(log)
  const [actor] = actors
  const { header } = log.events.find((one) => one.header.agentId === actor!.id && one.header.type === 'user_input')!
  const erasedIn = (shown: { readonly path: string }) =>
    dumpFile(shown.path).inputs!.find((row) => row.agent_id === actor!.id && row.revision === header.revision)!.erased
  const cursor = cursorAt(log, -1)
  expect(await past.at(cursor, async (file) => erasedIn(file))).toBe(0)
  let tries = 0
  const during = past.at(cursor, async (file) => {
    const seen = erasedIn(file)
    if (++tries === 1) actor!.erase([header.revision])
    return [seen, file.erasedLater]
  })
  expect([await during, tries]).toEqual([[1, 1], 2])
})

it('an erasure removes the files, also one in the making, and the tables say how much was erased later', async () => {
  const { log, actors } = tell(numbers, false)
  const { folder, past } = await beside(log)
  const [actor] = actors
  const { header } = log.events.find((one) => one.header.agentId === actor!.id && one.header.type === 'user_input')!
  await past.at(cursorAt(log, 9), path)
  const cursor = cursorAt(log, -1)
  const { readAll } = log
  log.readAll = async function* (...asked) {
    yield* readAll.apply(log, asked)
    log.readAll = readAll
    actor!.erase([header.revision])
    await past.clear()
    expect(pastIn(folder)).toEqual([])
  }
  const shown = await past.at(cursor, async (file) => ({ ...file, rows: dumpFile(file.path).inputs! }))
  expect(shown.erasedLater).toBe(1)
  const input = shown.rows.find((row) => row.agent_id === actor!.id && row.revision === header.revision)
  expect(input).toMatchObject({ erased: 1 })
  expect(pastIn(folder)).toHaveLength(1)
})

it('the next start removes the files of the last one', async () => {
  const { log } = tell(numbers, false)
  const { folder, home, past } = await beside(log)
  await past.at(cursorAt(log, -1), path)
  await home.dropOthers()
  expect(pastIn(folder)).toEqual([])
})
