import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openKeepUp } from '../../../api/index.ts'
import { exportedEvents, filesIn, manifestOf } from '../../support/exports/read-back.ts'
import { tempFolder } from '../../support/folders.ts'
import { cliFolder, idIn } from '../support/cli.ts'

// `keepup export`, of a run and of everything.

const folder = cliFolder()
afterAll(() => folder.clean())
const cli = (...args: string[]) => folder.look('--by', 'ada', ...args)
const all = async () =>
  (await cli('tail', '--no-follow', '-o', 'jsonl')).out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { id: string }).id)
let run = ''
beforeAll(async () => {
  run = idIn((await cli('run', 'finish it', '--no-workspace')).err)
})

test('a run is written to stdout as before, and everything into a folder', async () => {
  const lines = (await cli('export', run)).out.trimEnd().split('\n')
  expect(JSON.parse(lines[0]!)).toMatchObject({ export: 1, runId: run })
  const to = join(tempFolder(), 'out')
  const first = await cli('export', '--events', '--tables', '--to', to)
  expect(first).toMatchObject({ code: 0, err: '' })
  expect(first.out).toMatch(/\d+ events in 1 new file\n.*: \d+ tables with \d+ rows\n$/)
  expect((await exportedIds(to)).sort()).toEqual((await all()).sort())
  expect(filesIn(to)).toContain('tables/runs.parquet')
  expect(manifestOf(to).get('tables/runs.parquet')).toMatchObject({ rows: 1 })
  await cli('run', 'finish another', '--no-workspace')
  const { out } = await cli('export', '--events', '--to', to, '-o', 'json')
  expect(JSON.parse(out)).toMatchObject({ folder: to, tables: null, events: { files: [expect.any(String)] } })
  expect((await exportedIds(to)).sort()).toEqual((await all()).sort())
})

test('an erasure is carried into the files, which the command says', async () => {
  const to = tempFolder()
  const word = 'unforgettable parrot'
  const erased = idIn((await cli('run', `finish, and keep the ${word}`, '--no-workspace')).err)
  await cli('export', '--events', '--tables', '--to', to, '--format', 'csv')
  const texts = () => filesIn(to).map((file) => readFileSync(join(to, file), 'utf8'))
  expect(texts().join('')).toContain(word)
  expect(await cli('erase', erased, '--all', '--reason', 'asked', '--yes')).toMatchObject({ code: 0 })
  const { out } = await cli('export', '--events', '--to', to, '--format', 'csv')
  expect(out).toMatch(/part-[\d-]+\.csv: written again without what was erased since/)
  expect(out).toMatch(/\d+ tables may still show what was erased since; export again with --tables/)
  const again = await cli('export', '--events', '--tables', '--to', to, '--format', 'csv')
  expect(again.out).not.toContain('may still show')
  expect(texts().join('')).not.toContain(word)
})

describe('is refused', () => {
  test.each([
    [['export'], 'name a run, or --events and --tables'],
    [['export', 'x', '--events'], 'name a run, or --events and --tables'],
    [['export', '--events'], 'name the folder with --to'],
    [['export', 'x', '--to', 'y'], '--to belongs to --events'],
    [['export', '--tables', '--to', 'y', '--since', 'z'], '--since: belongs to --events'],
    [['export', '--tables', '--to', 'y', '--format', 'cloudevents'], 'a format of events'],
    [['export', '--events', '--to', 'y', '--format', 'xls'], '--format: expected parquet, csv'],
    [['export', '--events', '--to', 'y', '--agent', 'z'], '--agent'],
  ])('%j', async (args, message) => {
    const { code, err } = await cli(...args)
    expect([code, err]).toEqual([2, expect.stringContaining(message)])
  })

  test('in a folder with the events of another log, and goes on in one of its own', async () => {
    const to = tempFolder()
    await cli('export', '--events', '--to', to)
    const data = join(folder.root, 'other')
    await folder.look('--data', data, 'run', 'finish elsewhere', '--no-workspace')
    const other = await folder.look('--data', data, 'export', '--events', '--to', to)
    expect([other.code, other.err]).toEqual([1, expect.stringContaining('export into a new folder')])
    appendFileSync(join(to, '_manifest.ndjson'), '{"torn')
    expect(await cli('export', '--events', '--to', to)).toMatchObject({ code: 0 })
  })
})

test('the library exports the same', async () => {
  const [events, tables] = [tempFolder(), tempFolder()]
  const keepup = await openKeepUp({ data: folder.data, by: 'ada' })
  try {
    const exported = await keepup.exportEvents({ to: events, format: 'ndjson' })
    expect(exported).toMatchObject({ rows: (await exportedEvents(events)).length, rewritten: [] })
    const { tables: rows, position } = await keepup.exportTables({ to: tables, format: 'csv' })
    expect(rows.runs).toBe(3)
    expect(position).toContain('~')
    await expect(keepup.exportTables({ to: events })).rejects.toMatchObject({ code: 'EXPORT_FOREIGN' })
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(keepup.exportEvents({ to: tempFolder(), signal })).rejects.toThrow('enough')
  } finally {
    await keepup.close()
  }
})

const exportedIds = async (to: string) => (await exportedEvents(to)).map(({ event_id }) => String(event_id))
