import { readdirSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import { Projector } from '../../projections/engine/projector/projector.ts'
import { SqliteHome } from '../../projections/engine/store/sqlite-home.ts'
import { PastTables } from '../../projections/past-tables.ts'
import { tempFolder } from '../support/folders.ts'
import { dumpFile, sqliteKit } from '../support/projections/kit.ts'
import type { MemoryLog } from '../support/projections/memory-log.ts'
import { numbers } from '../support/projections/rebuilding.ts'
import { tell } from '../support/projections/tell.ts'

const pastIn = (folder: string) => readdirSync(folder).filter((name) => /^past-.*\.db$/.test(name))
const cursorAt = (log: MemoryLog, place: number) => log.cursor(log.events.at(place)!)
const path = async (file: { readonly path: string }) => file.path

/** Live tables of a log, and the tables of its past beside them. */
async function beside(log: MemoryLog) {
  const folder = tempFolder()
  const home = new SqliteHome(folder)
  const { store } = await home.fresh()
  onTestFinished(() => store.close())
  const live = new Projector({ log, blobs: log.blobs, store })
  await live.catchUp()
  return { folder, home, live, past: new PastTables(folder, { log, blobs: log.blobs }) }
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

it('an erasure removes the files, also one in the making, and the tables say how much was erased later', async () => {
  const { log, actors } = tell(numbers, false)
  const { folder, live, past } = await beside(log)
  const [actor] = actors
  const { header } = log.events.find((one) => one.header.agentId === actor!.id && one.header.type === 'user_input')!
  await past.at(cursorAt(log, 9), path)
  const cursor = cursorAt(log, -1)
  const { readAll } = log
  log.readAll = async function* (...asked) {
    yield* readAll.apply(log, asked)
    log.readAll = readAll
    actor!.erase([header.revision])
    await live.catchUp()
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
