import { appendFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type EventLine, eventLines } from '../../../api/operations/export/event-lines.ts'
import { eventRow } from '../../../api/operations/export/event-row.ts'
import type { ExportError } from '../../../api/operations/export/export-error.ts'
import { runExport } from '../../../api/operations/export/export-thread.ts'
import { localSource } from '../../../api/operations/export/local-source.ts'
import { type ExportFormat, FORMATS } from '../../../api/operations/export/manifest.ts'
import { writeExport } from '../../../api/operations/export/write-export.ts'
import { ERASED_FACT } from '../../../domain/log/erased.ts'
import { PROOF_STREAM } from '../../../domain/proof/kind.ts'
import { expectedEvents, exportedEvents, filesIn, plainRow } from '../../support/exports/read-back.ts'
import { tempFolder } from '../../support/folders.ts'
import { bodyOf, cursorOf, eventsIn, openWorld } from '../support/http.ts'

// Events as files for analysts.

const world = await openWorld()
const { ask, services } = world
afterAll(() => world.close())
beforeAll(async () => {
  await world.driven('say "hello", and\r\nfinish; also =1+1 and é🎈')
  await world.driven('finish the second')
  // The first signed head records its key in the log.
  await vi.waitFor(async () => expect(await services.log.head(PROOF_STREAM)).not.toBeNull(), { timeout: 30_000 })
})

const SECRET = 'the unforgettable parrot'
const source = localSource(services)
const work = (folder: string, format: ExportFormat, since: string | null = null) =>
  ({ folder, format, events: { since }, tables: false }) as const
/** In this thread: only some rules need the start of another one. */
const exported = async (folder: string, format: ExportFormat, since: string | null = null) =>
  (await writeExport(work(folder, format, since), source)).events!
const inThread = async (folder: string, format: ExportFormat) => (await runExport(work(folder, format), source)).events!
const rows = async (folder: string) => (await exportedEvents(folder)).map(plainRow)
const refusal = (export_: Promise<unknown>) =>
  export_.then(
    () => expect.unreachable('the export was not refused'),
    (error: unknown) => error as ExportError,
  )

describe.each(FORMATS.filter((one) => one !== 'cloudevents'))('as %s', (format) => {
  test('the files have every event with its values, then those that came since, and what is erased is gone', async () => {
    const folder = join(tempFolder(), 'out')
    const run = await world.driven(`finish, and keep ${SECRET}`)
    const first = await exported(folder, format)
    expect(await rows(folder)).toEqual(await expectedEvents(services))
    expect(first).toMatchObject({ rows: (await eventsIn(services)).length, rewritten: [] })
    const before = filesIn(folder)
    expect(await exported(folder, format)).toEqual({ ...first, rows: 0, files: [] })

    await world.driven('finish the next')
    const second = await exported(folder, format)
    expect(second.rows).toBeGreaterThan(3)
    expect(second.rewritten).toEqual([])
    expect(await rows(folder)).toEqual(await expectedEvents(services))

    const times = () => filesIn(folder).map((file) => [file, statSync(join(folder, file)).mtimeMs])
    const stable = times().filter(([file]) => !before.includes(String(file)))
    const body = { all: true, reason: 'asked' }
    expect((await ask('POST', `/v1/runs/${run}/erase`, { body })).status).toBeLessThan(300)
    const third = await exported(folder, format)
    expect(third.rewritten).toEqual(before)
    expect(times()).toEqual(expect.arrayContaining(stable))
    const all = await rows(folder)
    expect(all).toEqual(await expectedEvents(services))
    expect(all.filter(({ erased }) => erased === 'true').length).toBeGreaterThan(2)
    if (format !== 'parquet')
      for (const file of filesIn(folder)) expect(readFileSync(join(folder, file), 'utf8')).not.toContain(SECRET)
    expect((await exported(folder, format)).rewritten).toEqual([])
  })
})

test('an export begins after a cursor, goes on with the same command, and refuses another cursor', async () => {
  const folder = tempFolder()
  const [, , third, fourth] = await eventsIn(services)
  const since = cursorOf(services, third!)
  await exported(folder, 'ndjson', since)
  expect(await rows(folder)).toEqual((await expectedEvents(services)).slice(3))
  expect((await exported(folder, 'ndjson', since)).rows).toBe(0)
  expect(await refusal(exported(folder, 'ndjson', cursorOf(services, fourth!)))).toMatchObject({ code: 'EXPORT_BEGUN' })
})

test('a cursor is remembered before the first event, also after the tables', async () => {
  const [, , third, fourth] = await eventsIn(services)
  const since = cursorOf(services, third!)
  for (const tables of [false, true]) {
    const folder = tempFolder()
    if (tables) await writeExport({ folder, format: 'ndjson', events: null, tables }, source)
    const gone = new Error('the connection is gone')
    const failing = writeExport(
      { folder, format: 'ndjson', events: { since }, tables: false },
      async function* (asked) {
        for await (const piece of source(asked)) {
          yield piece
          throw gone
        }
      },
    )
    expect(await refusal(failing)).toBe(gone)
    const other = exported(folder, 'ndjson', cursorOf(services, fourth!))
    expect(await refusal(other)).toMatchObject({ code: 'EXPORT_BEGUN' })
    expect((await exported(folder, 'ndjson')).rows).toBe((await expectedEvents(services)).length - 3)
    expect((await exported(folder, 'ndjson', since)).rows).toBe(0)
  }
})

test('two exports into one folder: the second is refused, also from another thread', async () => {
  const folder = tempFolder()
  let go = () => {}
  const gate = new Promise<void>((resolve) => {
    go = resolve
  })
  const slow = runExport({ folder, format: 'csv', events: { since: null }, tables: false }, async function* (asked) {
    yield* source(asked)
    await gate
  })
  await expect.poll(() => filesIn(folder).length).toBe(1)
  expect(await refusal(inThread(folder, 'csv'))).toMatchObject({ code: 'EXPORT_RUNNING' })
  go()
  await slow
  expect(await rows(folder)).toEqual(await expectedEvents(services))
  expect((await exported(folder, 'csv')).rows).toBe(0)
})

test('files that an interrupted export left are removed, and a torn line of the manifest is no line', async () => {
  const folder = tempFolder()
  const { files } = await exported(folder, 'ndjson')
  const day = join(folder, 'events/day=2026-01-01')
  mkdirSync(day)
  for (const name of ['part-1-9.ndjson', 'part-10.tmp']) writeFileSync(join(day, name), 'left')
  appendFileSync(join(folder, '_manifest.ndjson'), '{"file":"events/day=2026-01-01/part-1-9.nd')
  await world.driven('finish after the interruption')
  await exported(folder, 'ndjson')
  expect(filesIn(folder)).toHaveLength(files.length + 1)
  expect(await rows(folder)).toEqual(await expectedEvents(services))
})

test('files and folders of others stay', async () => {
  const folder = tempFolder()
  await exported(folder, 'ndjson')
  const day = 'events/day=2026-01-01'
  const others = ['tables/orders.ndjson', 'tables/runs.csv', 'tables/old/a.ndjson', `${day}/part-1-9.csv`]
  for (const name of ['tables/old', 'tables/runs.ndjson', day]) mkdirSync(join(folder, name), { recursive: true })
  for (const file of others) writeFileSync(join(folder, file), 'of others')
  await exported(folder, 'ndjson')
  for (const file of others) expect([file, existsSync(join(folder, file))]).toEqual([file, true])
  expect(existsSync(join(folder, 'tables/runs.ndjson'))).toBe(true)
})

test('a manifest of others stays as it is, and the incomplete first line of ours is none', async () => {
  for (const text of ['[{"file":"theirs"}]', '{"keepup":"other"}', 'a list\nand more']) {
    const folder = tempFolder()
    writeFileSync(join(folder, '_manifest.ndjson'), text)
    expect(await refusal(exported(folder, 'ndjson'))).toMatchObject({ code: 'EXPORT_FOREIGN' })
    expect(readFileSync(join(folder, '_manifest.ndjson'), 'utf8')).toBe(text)
  }
  for (const text of ['', '{"kee', '{"keepup":"export","schema":1,"log":"ab']) {
    const folder = tempFolder()
    writeFileSync(join(folder, '_manifest.ndjson'), text)
    await exported(folder, 'ndjson')
    expect(await rows(folder)).toEqual(await expectedEvents(services))
    const full = tempFolder()
    writeFileSync(join(full, '_manifest.ndjson'), text)
    writeFileSync(join(full, 'letter.txt'), 'dear')
    expect(await refusal(exported(full, 'ndjson'))).toMatchObject({ code: 'EXPORT_FOREIGN' })
  }
})

test('an error of a file names the file and what to do, and its cause has the code', async () => {
  const blocked = join(tempFolder(), 'file')
  writeFileSync(blocked, '')
  const folder = tempFolder()
  await exported(folder, 'ndjson')
  writeFileSync(join(folder, 'tables'), '')
  for (const [to, path, code] of [
    [blocked, blocked, 'EEXIST'],
    [folder, join(folder, 'tables'), 'ENOTDIR'],
  ] as const) {
    const error = await refusal(inThread(to, 'ndjson'))
    expect(error).toMatchObject({ name: 'ExportError', code: 'EXPORT_FILES', cause: { code, path } })
    expect(error.message).toContain(path)
    expect(error.message).toContain('name another folder')
  }
})

test('tables that are older than an erasure are named until they are exported again', async () => {
  const folder = tempFolder()
  const run = await world.driven(`finish, and keep ${SECRET}`)
  await services.read.caughtUp()
  const tables = () => writeExport({ folder, format: 'ndjson', events: null, tables: true }, source)
  await tables()
  expect((await exported(folder, 'ndjson')).outdated).toEqual([])
  await ask('POST', `/v1/runs/${run}/erase`, { body: { all: true, reason: 'asked' } })
  expect((await exported(folder, 'ndjson')).outdated).toContain('tables/runs.ndjson')
  expect((await exported(folder, 'ndjson')).outdated).toContain('tables/runs.ndjson')
  await services.read.caughtUp()
  await tables()
  expect((await exported(folder, 'ndjson')).outdated).toEqual([])
  expect(readFileSync(join(folder, 'tables/runs.ndjson'), 'utf8')).not.toContain(SECRET)
})

test('an export that ends while it writes a part again repeats that, and no text stays', async () => {
  const folder = tempFolder()
  const run = await world.driven(`finish, and keep ${SECRET}`)
  await exported(folder, 'ndjson')
  const [part] = filesIn(folder)
  await ask('POST', `/v1/runs/${run}/erase`, { body: { all: true, reason: 'asked' } })
  await world.driven('finish after the erasure')
  const failure = new Error('the process ended')
  let isAgain = false
  const ends = writeExport(
    { folder, format: 'ndjson', events: { since: null }, tables: false },
    async function* (asked) {
      if (asked.of === 'events' && asked.last !== null) {
        isAgain = true
        throw failure
      }
      yield* source(asked)
    },
  )
  expect([await refusal(ends), isAgain]).toEqual([failure, true])
  expect(filesIn(folder)).toEqual([part])
  expect((await exported(folder, 'ndjson')).rewritten).toEqual([part])
  expect(await rows(folder)).toEqual(await expectedEvents(services))
  expect(readFileSync(join(folder, part!), 'utf8')).not.toContain(SECRET)
})

test('a part ends with its day, and holds groups of rows', async () => {
  const folder = tempFolder()
  const [one] = await eventsIn(services)
  const count = 22_000
  const timeOf = (n: number) => (n < 21_000 ? '2026-01-01T23:59:59.999Z' : '2026-01-02T00:00:00.000Z')
  const cursor = cursorOf(services, one!)
  await runExport({ folder, format: 'parquet', events: { since: null }, tables: false }, async function* () {
    yield `${JSON.stringify({ export: 'events', schema: 1, logId: services.log.logId, head: count })}\n`
    for (let n = 0; n < count; n++) {
      const row = { ...eventRow(one!, { n, text: '\u00e9"'.repeat(n % 50) }), position: n + 1, time: timeOf(n), cursor }
      yield `${JSON.stringify(row)}\n`
    }
  })
  expect(filesIn(folder)).toEqual([
    'events/day=2026-01-01/part-1-21000.parquet',
    'events/day=2026-01-02/part-21001-22000.parquet',
  ])
  const found = await rows(folder)
  expect(found).toHaveLength(count)
  for (const [n, row] of found.entries())
    if (row.time !== timeOf(n) || (row.payload as { n: number }).n !== n) expect([n, row]).toBeNull()
})

test('a folder that belongs to something else is refused, and stays as it is', async () => {
  const own = tempFolder()
  writeFileSync(join(own, 'letter.txt'), 'dear')
  const others: [string, string][] = [[own, 'EXPORT_FOREIGN']]
  const manifest = (lines: string) => {
    const folder = tempFolder()
    writeFileSync(join(folder, '_manifest.ndjson'), lines)
    return folder
  }
  const head = { keepup: 'export', schema: 1, log: services.log.logId, format: 'ndjson' }
  others.push([manifest('[]\n'), 'EXPORT_FOREIGN'])
  others.push([manifest(`${JSON.stringify({ ...head, format: 'csv' })}\n`), 'EXPORT_FOREIGN'])
  others.push([manifest(`${JSON.stringify({ ...head, log: 'another' })}\n`), 'EXPORT_FOREIGN'])
  others.push([manifest(`${JSON.stringify({ ...head, schema: 2 })}\n`), 'EXPORT_SCHEMA'])
  for (const [folder, code] of others) {
    expect([folder, await refusal(exported(folder, 'ndjson'))]).toMatchObject([folder, { code }])
    expect(filesIn(folder)).toEqual([])
  }
})

test('an error of the log reaches the caller as it is, and the folder goes on later', async () => {
  const folder = tempFolder()
  const broken = new Error('the disk is gone')
  const failing = runExport(
    { folder, format: 'ndjson', events: { since: null }, tables: false },
    async function* (asked) {
      for await (const piece of source(asked)) {
        yield piece
        throw broken
      }
    },
  )
  expect(await refusal(failing)).toBe(broken)
  await exported(folder, 'ndjson')
  expect(await rows(folder)).toEqual(await expectedEvents(services))
})

test('HTTP answers with the same rows', async () => {
  const response = await ask('GET', '/v1/exports/events')
  expect(response.headers.get('content-type')).toContain('ndjson')
  const [head, ...lines] = (await response.text()).trimEnd().split('\n')
  expect(JSON.parse(head!)).toMatchObject({ export: 'events', schema: 1, logId: services.log.logId })
  const found = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  const plain = found.map(({ cursor, trace, touches, ...row }) => plainRow(row))
  expect(plain).toEqual(await expectedEvents(services))
  const { code } = await bodyOf(await ask('GET', '/v1/exports/events?after=nonsense'))
  expect(code).toBe('CURSOR_INVALID')
})

/** The lines of erasures in a stream with events at these positions, and how many events were read for them. */
async function linesOf(positions: readonly number[], erasures: readonly number[]) {
  const [one] = await eventsIn(services)
  const all = [...positions, ...erasures].sort((a, b) => a - b)
  const stream = all.map((position, revision) => {
    const type = erasures.includes(position) ? ERASED_FACT : 'asked'
    return { ...one!, position, header: { ...one!.header, revision, type } }
  })
  let read = 0
  const log: typeof services.log = Object.assign(Object.create(services.log), {
    headCursor: async () => ({ ...(await services.log.headCursor()), position: all.at(-1) }),
    async *readAll() {
      yield stream.filter(({ header }) => header.type === ERASED_FACT)
    },
    async *read(_: string, { from = 0, limit = 0 }) {
      for (let n = from; n < from + limit; n += 100) {
        const page = stream.slice(n, Math.min(n + 100, from + limit))
        read += page.length
        yield page
      }
    },
  })
  const text: string[] = []
  for await (const piece of eventLines({ log, blobs: services.blobs }, null)) text.push(piece)
  const [, ...lines] = text.join('').trimEnd().split('\n')
  return { lines: lines.map((line) => JSON.parse(line) as EventLine), read }
}

test('an erasure names few ranges, each earlier event is in one', async () => {
  const erasureAfter = async (positions: readonly number[]) => {
    const { lines } = await linesOf(positions, [positions.at(-1)! + 1])
    return lines[0]!
  }
  const sparse = Array.from({ length: 5_000 }, (_, n) => 10 + n * 3 + (n % 7 === 0 ? 1 : 0))
  const { touches } = await erasureAfter(sparse)
  expect(touches!.length).toBeLessThan(300)
  for (const position of sparse)
    if (!touches!.some(([first, last]) => first <= position && position <= last)) expect(position).toBeNull()
  expect((await erasureAfter([4, 5, 6, 9, 10, 20])).touches).toEqual([
    [4, 6],
    [9, 10],
    [20, 20],
  ])
})

test('a stream with many erasures is read once', async () => {
  const positions = Array.from({ length: 600 }, (_, n) => 10 + n * 2)
  const erasures = Array.from({ length: 50 }, (_, n) => 111 + n * 20)
  const { lines, read } = await linesOf(positions, erasures)
  expect(lines).toHaveLength(erasures.length)
  for (const { position, touches } of lines) expect(touches!.at(-1)![1]).toBe(position - 1)
  expect(read).toBeLessThan(positions.length + erasures.length)
})
