import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { selectRuns } from '../../projections/agent/queries/runs.ts'
import { liveFile } from '../../projections/engine/store/pointer.ts'
import { Projections } from '../../projections/projections.ts'
import { tempFolder } from '../support/folders.ts'
import { dumpFile, folded, sqliteKit } from '../support/projections/kit.ts'
import { MemoryLog } from '../support/projections/memory-log.ts'
import { Actor } from '../support/projections/story.ts'
import { tell } from '../support/projections/tell.ts'

const numbers = Array.from({ length: 600 }, (_, i) => (i * 7919 + (i >> 3) * 31) % 1000)

async function open(log: MemoryLog, path = tempFolder()) {
  const projections = await Projections.open({ log, blobs: log.blobs, folder: path })
  onTestFinished(() => projections.close())
  return { path, projections, file: () => liveFile(path)! }
}

/** Overwrites the first page of tables. */
function overwrite(file: string, tables: readonly string[]): void {
  const db = new DatabaseSync(file)
  const size = Number(db.prepare('pragma page_size').get()!.page_size)
  const pages = tables.map(
    (name) => db.prepare('select rootpage from sqlite_schema where name = ?').get(name)!.rootpage,
  )
  db.close()
  const handle = openSync(file, 'r+')
  for (const page of pages) writeSync(handle, Buffer.alloc(size, 0xff), 0, size, (Number(page) - 1) * size)
  closeSync(handle)
}

function spoil(file: string, text: string): void {
  const db = new DatabaseSync(file)
  db.exec(text)
  db.close()
}

describe('the projections of a folder', () => {
  it('come back equal when the folder is deleted, and every answer says its position', async () => {
    const { log } = tell(numbers)
    const { file, projections } = await open(log)
    expect(dumpFile(file())).toEqual(await folded(log, sqliteKit))
    const { position, data } = await projections.read((db) => selectRuns(db))
    expect(position).toEqual(await log.headCursor())
    expect(data.runs.length).toBeGreaterThan(2)
    expect(projections.status().notice).toBe('the tables were missing')
  })

  it('go on where they stopped', async () => {
    const { log } = tell(numbers)
    const first = await open(log)
    await first.projections.close()
    spoil(first.file(), "update runs set summary = 'kept'")
    const { projections } = await open(log, first.path)
    expect(projections.status()).toMatchObject({ notice: null })
    expect((await projections.read((db) => selectRuns(db))).data.runs[0]!.summary).toBe('kept')
  })

  it.each([
    ['rows of another meaning', (file: string) => spoil(file, 'pragma user_version = 1')],
    ['a damaged file', (file: string) => writeFileSync(file, 'no database at all'.repeat(100))],
  ])('are made anew from the log after %s, and say so', async (_, damage) => {
    const { log } = tell(numbers)
    const first = await open(log)
    await first.projections.close()
    damage(first.file())
    const { projections, file } = await open(log, first.path)
    expect(projections.status().notice).toMatch(/rebuild/)
    expect(dumpFile(file())).toEqual(await folded(log, sqliteKit))
  })

  it('that are newer than the log are its witness, and are made anew only where its loss was accepted', async () => {
    const { log } = tell(numbers)
    const first = await open(log)
    await first.projections.close()
    spoil(first.file(), "update position set hash = 'other', position = 1")
    const options = { folder: first.path, log, blobs: log.blobs }
    await expect(Projections.open(options)).rejects.toMatchObject({ code: 'LOG_OLDER' })
    const projections = await Projections.open({ ...options, replaceNewer: true })
    expect(projections.status().notice).toMatch(/rebuild/)
    await projections.close()
    expect(dumpFile(first.file())).toEqual(await folded(log, sqliteKit))
  })

  it.each(['../../etc/passwd', '', 'tables-1.db/../../x', '\0\0', 'tables-1.db-wal'])(
    'are made anew where the name of the live file is %j, and come back when they are rebuilt',
    async (name) => {
      const { log } = tell(numbers)
      const first = await open(log)
      await first.projections.close()
      const current = join(first.path, 'current')
      writeFileSync(current, name)
      const { projections, file } = await open(log, first.path)
      expect(projections.status().notice).toBe('the tables were missing')
      expect(dirname(file())).toBe(first.path)
      writeFileSync(current, name)
      expect(await projections.rebuild()).toMatchObject({ switched: true, differences: null })
      expect(dumpFile(file())).toEqual(await folded(log, sqliteKit))
    },
  )

  it('say which file cannot be read', async () => {
    const { log } = tell(numbers)
    const path = tempFolder()
    mkdirSync(join(path, 'current'))
    const told = { name: 'ProjectionError', code: 'DAMAGED', message: expect.stringContaining(join(path, 'current')) }
    await expect(open(log, path)).rejects.toMatchObject(told)
  })

  it('that are damaged while they are open are told, and come back when they are rebuilt', async () => {
    const { log } = tell(numbers)
    const { projections, file } = await open(log)
    await projections.close()
    overwrite(file(), ['runs'])
    const again = await open(log, dirname(file()))
    await expect(again.projections.read((db) => db.selectFrom('runs').selectAll().execute())).rejects.toMatchObject({
      name: 'ProjectionError',
      code: 'DAMAGED',
      message: expect.stringContaining('keepup rebuild'),
    })
    expect(await again.projections.rebuild()).toMatchObject({ switched: true, differences: null })
    expect(dumpFile(again.file())).toEqual(await folded(log, sqliteKit))
  })

  it('that turn out to be damaged while they follow the log are made anew by themselves', async () => {
    const { log, actors } = tell(numbers)
    const { projections, file } = await open(log)
    await projections.close()
    overwrite(file(), ['runs', 'inputs'])
    const again = await open(log, dirname(file()))
    const end = new AbortController()
    const running = again.projections.run(end.signal)
    actors[0]!.user('user_input', { text: 'still there?' })
    const head = await log.headCursor()
    await expect(again.projections.caughtUpTo(head)).rejects.toMatchObject({ code: 'DAMAGED' })
    await expect
      .poll(() =>
        again.projections.caughtUpTo(head).then(
          () => 'here',
          () => 'not yet',
        ),
      )
      .toBe('here')
    end.abort()
    await running
    expect(dumpFile(again.file())).toEqual(await folded(log, sqliteKit))
  })

  it('of a newer program are left alone', async () => {
    const { log } = tell(numbers)
    const first = await open(log)
    await first.projections.close()
    spoil(first.file(), 'pragma user_version = 999001')
    await expect(open(log, first.path)).rejects.toMatchObject({ code: 'SCHEMA_NEWER' })
  })
})

describe('a rebuild', () => {
  it('proves equal, switches, drops the old file, and goes on following the log', async () => {
    const { log, actors } = tell(numbers)
    const { projections, file, path } = await open(log)
    const end = new AbortController()
    const running = projections.run(end.signal)
    const before = file()
    const slow = projections.read(async (db) => {
      const first = await selectRuns(db)
      return { first, again: await selectRuns(db) }
    })
    let events = 0
    for await (const page of log.readAll(null)) events += page.length
    expect(projections.rebuilding()).toBe(null)
    const { readAll } = log
    let shown: ReturnType<Projections['rebuilding']> = null
    log.readAll = (...asked) => {
      shown ??= projections.rebuilding()
      return readAll.apply(log, asked)
    }
    expect(await projections.rebuild()).toEqual({ switched: true, differences: [], events })
    log.readAll = readAll
    expect([shown, projections.rebuilding()]).toEqual([{ events: expect.any(Number), of: events }, null])
    const { data } = await slow
    expect(data.again).toEqual(data.first)
    expect(file()).not.toBe(before)
    actors[0]!.user('user_input', { text: 'still there?' })
    await projections.caughtUpTo(await log.headCursor())
    expect((await projections.read((db) => selectRuns(db))).position).toEqual(await log.headCursor())
    expect(readdirSync(path).filter((name) => name.endsWith('.db'))).toEqual([
      readFileSync(join(path, 'current'), 'utf8'),
    ])
    end.abort()
    await running
    expect(dumpFile(file())).toEqual(await folded(log, sqliteKit))
  })

  it('proves equal although bodies are erased while it goes on', async () => {
    const { log, actors } = tell(numbers, false)
    const { projections, file } = await open(log)
    const end = new AbortController()
    const running = projections.run(end.signal)
    const { readAll } = log
    log.readAll = (...asked) => {
      log.readAll = readAll
      for (const actor of actors) if (actor.finished) actor.eraseAll()
      return readAll.apply(log, asked)
    }
    const before = log.events.length
    expect(await projections.rebuild()).toMatchObject({ switched: true, differences: [] })
    expect(log.events.length).toBeGreaterThan(before)
    await projections.caughtUpTo(await log.headCursor())
    end.abort()
    await running
    expect(dumpFile(file())).toEqual(await folded(log, sqliteKit))
  })

  it('shows a difference and does not switch, unless that is wanted', async () => {
    const { log } = tell(numbers)
    const { projections, file, path } = await open(log)
    spoil(
      file(),
      "update runs set status = 'completed' where status = 'active'; delete from inputs where agent_id = 'a000'",
    )
    const wrong = dumpFile(file())
    const { switched, differences } = await projections.rebuild()
    expect(switched).toBe(false)
    expect(differences!.map(({ table }) => table)).toEqual(['runs', 'inputs'])
    const [runs, inputs] = differences!
    expect(runs!.onlyLive).toBe(runs!.onlyRebuilt)
    expect(runs!.examples.live[0]).toMatchObject({ status: 'completed' })
    expect(runs!.examples.rebuilt[0]).toMatchObject({ status: 'active' })
    expect(inputs!.onlyLive).toBe(0)
    expect(dumpFile(file())).toEqual(wrong)
    expect(readdirSync(path).filter((name) => name.endsWith('.db'))).toHaveLength(1)
    expect(await projections.rebuild({ accept: true })).toMatchObject({ switched: true })
    expect(dumpFile(file())).toEqual(await folded(log, sqliteKit))
  })

  it('keeps who waits for a write waiting, not failing', async () => {
    const log = new MemoryLog()
    let at = 0
    const actor = new Actor(log, () => ++at, 'a', 'a')
    actor.start()
    const { projections } = await open(log)
    const end = new AbortController()
    const running = projections.run(end.signal)
    const next = { ...(await log.headCursor()), position: log.events.at(-1)!.position + 3 }
    const waits = projections.caughtUpTo(next)
    await projections.rebuild()
    actor.user('user_input', { text: 'x' })
    await waits
    end.abort()
    await running
  })
})
