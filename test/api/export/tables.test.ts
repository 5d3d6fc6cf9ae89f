// @module-tag git
import { createHash } from 'node:crypto'
import { cpSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { openKeepUp } from '../../../api/library/open-keepup.ts'
import { runExport } from '../../../api/operations/export/export-thread.ts'
import { localSource } from '../../../api/operations/export/local-source.ts'
import { type ExportFormat, FORMATS } from '../../../api/operations/export/manifest.ts'
import { tableLines } from '../../../api/operations/export/table-lines.ts'
import { writeExport } from '../../../api/operations/export/write-export.ts'
import { PROOF_STREAM } from '../../../domain/proof/kind.ts'
import { publicTables } from '../../../projections/engine/queries/table-rows.ts'
import { filesIn, manifestOf, plainRow, type ReadRow, rowsOf } from '../../support/exports/read-back.ts'
import { tempFolder } from '../../support/folders.ts'
import { openWorld } from '../support/http.ts'

// Tables as files for analysts.

const world = await openWorld()
const { services } = world
afterAll(() => world.close())
beforeAll(async () => {
  await world.driven('say "hello", and\r\nfinish')
  await world.driven('finish in a folder', { workspace: world.workspace() })
  await vi.waitFor(async () => expect(await services.log.head(PROOF_STREAM)).not.toBeNull(), { timeout: 30_000 })
})

const source = localSource(services)
/** In this thread: only some rules need the start of another one. */
const exported = async (folder: string, format: ExportFormat) =>
  (await writeExport({ folder, format, events: null, tables: true }, source)).tables!

/** The rows of a table, as SQL gives them, in any order. */
const selected = async (table: string) =>
  (await services.read.rows((db) => sql<ReadRow>`select * from ${sql.table(table)}`.execute(db))).value.rows
const sorted = (rows: readonly ReadRow[]) =>
  rows.map((row) => JSON.stringify(Object.entries(plainRow(row)).sort())).sort()

test('every table and view of the docs is exported, with all its columns', async () => {
  const docs = readFileSync(join(import.meta.dirname, '../../../api/docs/tables.md'), 'utf8')
  const named = [...docs.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name!)
  expect(named.length).toBeGreaterThan(40)
  const names = publicTables().map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(named.filter((name) => name !== 'event_rows')))
  for (const { name, columns } of publicTables()) {
    const { value } = await services.read.rows((db) =>
      sql<{ name: string }>`select name from pragma_table_info(${name})`.execute(db),
    )
    expect([name, Object.keys(columns).sort()]).toEqual([name, value.rows.map((row) => row.name).sort()])
  }
  const views = await services.read.rows((db) =>
    sql<{ name: string }>`select name from sqlite_master where type = 'view'`.execute(db),
  )
  expect(names).toEqual(
    expect.arrayContaining(views.value.rows.map(({ name }) => name).filter((name) => name !== 'events')),
  )
})

describe.each(FORMATS.filter((one) => one !== 'cloudevents'))('as %s', (format) => {
  test('a file per table has its rows, and a second export replaces it', async () => {
    const folder = tempFolder()
    const first = await exported(folder, format)
    await world.driven('finish the next')
    await services.read.caughtUp()
    const second = await exported(folder, format)
    expect(second.position).not.toBe(first.position)
    expect(second.tables.runs).toBe(first.tables.runs! + 1)
    const manifest = manifestOf(folder)
    expect(filesIn(folder)).toEqual([...manifest.keys()].sort())
    expect(Object.keys(second.tables).sort()).toEqual(
      publicTables()
        .map(({ name }) => name)
        .sort(),
    )
    for (const [table, count] of Object.entries(second.tables)) {
      const file = `tables/${table}.${format}`
      const path = join(folder, file)
      const sha256 = createHash('sha256').update(readFileSync(path)).digest('hex')
      expect(manifest.get(file)).toMatchObject({ rows: count, sha256, position: second.position })
      const rows = await rowsOf(path)
      expect([table, rows.length]).toEqual([table, count])
      expect([table, sorted(rows)]).toEqual([table, sorted(await selected(table))])
    }
  })
})

test('the tables show one position while the log grows, and other readers do not wait', async () => {
  const folder = tempFolder()
  const before = await selected('runs')
  let grown = false
  const { tables } = await runExport({ folder, format: 'ndjson', events: null, tables: true }, async function* (asked) {
    for await (const piece of source(asked)) {
      yield piece
      if (grown) continue
      grown = true
      await world.driven('finish meanwhile')
      await services.read.caughtUp()
      expect(await selected('runs')).toHaveLength(before.length + 1)
    }
  })
  expect(tables!.tables.runs).toBe(before.length)
  expect(await rowsOf(join(folder, 'tables/agents.ndjson'))).toHaveLength(before.length)
})

test('an export that fails leaves the files of the last one', async () => {
  const folder = tempFolder()
  await exported(folder, 'csv')
  const before = filesIn(folder).map((file) => readFileSync(join(folder, file), 'utf8'))
  await world.driven('finish before the failure')
  const broken = new Error('the connection is gone')
  const failing = runExport({ folder, format: 'csv', events: null, tables: true }, async function* (asked) {
    for await (const piece of source(asked)) {
      yield piece
      if (String(piece).includes('"table":"runs"')) throw broken
    }
  })
  await expect(failing).rejects.toBe(broken)
  expect(filesIn(folder).map((file) => readFileSync(join(folder, file), 'utf8'))).toEqual(before)
})

test('tables that fail while their reader pauses fail at its next read', async () => {
  const unhandled: unknown[] = []
  const note = (error: unknown) => unhandled.push(error)
  process.on('unhandledRejection', note)
  const broken = new Error('the connection is gone')
  const lost = Promise.withResolvers<never>()
  const read: typeof services.read = {
    ...services.read,
    current: () => services.read.current(),
    rowsApart: (query) => Promise.race([services.read.rowsApart(query), lost.promise]),
  }
  const lines = tableLines({ log: services.log, read })
  await lines.next()
  lost.reject(broken)
  await new Promise((resolve) => setTimeout(resolve, 20))
  await expect(lines.next()).rejects.toBe(broken)
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
})

test('a paused export of the tables that a lost end left delays no other answer', async () => {
  const data = tempFolder()
  const write = async (value: string) => {
    await using keepup = await openKeepUp({ data, by: 'ann' })
    await keepup.contextStore('review').set('goal', value)
  }
  await write('one')
  const kept = join(tempFolder(), 'log')
  cpSync(join(data, 'log'), kept, { recursive: true })
  await write('two')
  rmSync(join(data, 'log'), { recursive: true })
  cpSync(kept, join(data, 'log'), { recursive: true })
  await expect(write('three')).rejects.toMatchObject({ code: 'LOG_SHORTENED' })
  await using keepup = await openKeepUp({ data, by: 'ann' })
  const lines = tableLines(keepup.services)
  expect((await lines.next()).value).toContain('"export":"tables"')
  const counted = keepup.services.read.rows((db) => sql`select count(*) from runs`.execute(db)).then(() => 'answered')
  const late = new Promise<string>((resolve) => setTimeout(resolve, 5_000, 'late'))
  expect(await Promise.race([counted, late])).toBe('answered')
  await lines.return(undefined)
})
