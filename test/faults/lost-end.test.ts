// @module-tag git
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { ensureFile } from '../../adapters/sqlite/log/connection.ts'
import { MarkWriter, markOf } from '../../adapters/sqlite/log/mark.ts'
import { openSqliteLog } from '../../adapters/sqlite/log/open.ts'
import { openSql } from '../../api/process/embedded/open-sql.ts'
import { newPlace } from '../support/faults/cli.ts'
import { look } from '../support/faults/inspect.ts'
import { effectsIn, effectsJob, modelOf, sandboxFlag } from '../support/faults/jobs.ts'
import { FAULT_TIMEOUT_MS } from '../support/faults/seed.ts'

vi.setConfig({ testTimeout: FAULT_TIMEOUT_MS, hookTimeout: FAULT_TIMEOUT_MS })

// A run that has done what cannot be undone, and then waits for an approval. Its log loses what tells of that.

const place = newPlace()
const kept = join(place.root, 'kept')
const log = join(place.data, 'log', 'log.db')
let run = ''
afterAll(() => place.remove())

beforeAll(async () => {
  effectsJob.prepare(place)
  const how = ['--model', modelOf(place), '-w', place.workspace, '--approve', 'write_file', ...sandboxFlag]
  const { err } = await look(place, 'run', '--key', 'k', ...how, 'Leave two lines')
  run = /^run (\w+)$/m.exec(err)![1]!
  expect(await approved()).toMatchObject({ code: 8 })
  expect(effectsIn(place)).toBe('two\n')
  cpSync(place.data, kept, { recursive: true })
})

beforeEach(() => {
  rmSync(place.data, { recursive: true })
  cpSync(kept, place.data, { recursive: true })
})

/** Takes the events from one on out of the log, past its own guards. */
function cutBefore(type: string, nth = 1): void {
  const db = new DatabaseSync(log)
  for (const { name } of db.prepare("select name from sqlite_schema where type = 'trigger'").all())
    db.exec(`drop trigger ${name}`)
  const rows = db.prepare('select position from events e join kinds k on k.id = e.kind where k.type = ? order by 1')
  const from = Number(rows.all(type)[nth - 1]!.position)
  db.exec(`delete from bodies where position >= ${from}; delete from events where position >= ${from}`)
  db.close()
}

/** Approves the call that waits, and drives the run on. */
async function approved() {
  const [, call] = /approve (\S+) --dry-run/.exec((await look(place, 'runs', 'show', run)).err)!
  expect(await look(place, 'approve', call!)).toMatchObject({ code: 0 })
  return look(place, 'resume', run)
}

const doubtful = () => `${run}.t2.c0`

describe('the events of an irreversible call are gone', () => {
  beforeEach(() => cutBefore('tool_call_intent'))

  test('nothing is recorded and no run goes on, and every view says so', async () => {
    for (const command of [
      ['resume', run],
      ['input', run, 'go on'],
    ])
      expect(await look(place, ...command)).toMatchObject({ code: 1, err: expect.stringContaining('LOG_SHORTENED') })
    expect((await look(place, 'runs', 'list')).out).toContain('shortened')
    expect((await look(place, 'runs', 'list')).err).toContain('the log has lost its end')
    expect((await look(place, 'runs', 'show', run)).out).toMatch(/shortened +the log holds less/)
    expect(await look(place, 'verify')).toMatchObject({ code: 5, out: expect.stringContaining('has lost its end') })
    const doctor = await look(place, 'doctor')
    expect(doctor).toMatchObject({ code: 1, out: expect.stringMatching(/log end +broken/) })
    expect(effectsIn(place)).toBe('two\n')
  })

  test('the repair shows the loss, changes nothing, and accepts only the loss that it has shown', async () => {
    const { code, out } = await look(place, 'repair')
    expect(code).toBe(5)
    expect(out).toContain(`agent-${run} ends at revision`)
    expect(out).toContain(`${doubtful()} run_command (irreversible) began there`)
    const { err } = await look(place, 'repair')
    const id = /--accept-loss (\w+)/.exec(err)![1]!
    const other = await look(place, 'repair', '--accept-loss', `${id}x`, '--yes')
    expect(other).toMatchObject({ code: 1, err: expect.stringContaining('LOSS_CHANGED') })
    expect(await look(place, 'repair')).toMatchObject({ code: 5 })
    expect(await look(place, 'repair', '--accept-loss', id, '--yes')).toMatchObject({ code: 0 })
  })

  test('the repair accepts nothing unasked: without a terminal it wants --yes', async () => {
    const refused = await look(place, 'repair', '--accept-loss')
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('say --yes to do it') })
    expect(refused.err).toContain(`${doubtful()} run_command (irreversible) began there`)
    expect(await look(place, 'repair', '--yes')).toMatchObject({ code: 2 })
    expect(await look(place, 'repair')).toMatchObject({ code: 5 })
  })

  test('accepted, the repair, the verification and the run tell by whom, when and why, and what it left in doubt', async () => {
    await look(place, 'repair', '--accept-loss', '--reason', 'disk died', '--yes')
    const told = [
      await look(place, 'repair'),
      await look(place, 'verify'),
      await look(place, 'verify', run),
      await look(place, 'runs', 'show', run),
    ]
    for (const { out } of told) {
      expect(out).toMatch(/a loss of the log was accepted by \S+ at \d{4}-\d\d-\d\dT\S+Z: disk died/)
      expect(out).toContain(`${doubtful()} run_command (irreversible) began there`)
      expect(out).toMatch(/revision \d+ had been seen, 2 calls and \$[\d.]+ of model calls in doubt/)
    }
  })

  test('accepted, a person is asked about the call, and it does not run again', async () => {
    expect(await look(place, 'repair', '--accept-loss', '--reason', 'disk died', '--yes')).toMatchObject({ code: 0 })
    expect(await look(place, 'repair')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^the log holds all that was seen of it\n/),
    })
    expect(await look(place, 'resume', run)).toMatchObject({ code: 8 })
    expect((await look(place, 'runs', 'show', run)).out).toContain('waits: doubt')
    expect(effectsIn(place)).toBe('two\n')
    await look(place, 'resolve', doubtful(), 'happened', '--result', '{"exitCode":0}')
    expect(await look(place, 'resume', run)).toMatchObject({ code: 8 })
    expect((await look(place, 'runs', 'show', run)).out).toContain('waits: approval')
    expect(effectsIn(place)).toBe('two\n')
    const verified = await look(place, 'verify')
    expect(verified).toMatchObject({ code: 0 })
  })

  test('accepted, it runs where a person says that it did not happen', async () => {
    rmSync(join(place.workspace, 'effects.txt'))
    await look(place, 'repair', '--accept-loss', '--yes')
    await look(place, 'resolve', doubtful(), 'run')
    expect(await look(place, 'resume', run)).toMatchObject({ code: 8 })
    expect(effectsIn(place)).toBe('two\n')
  })
})

describe('without the tables the mark alone tells that something is missing', () => {
  test('every irreversible call is an unknown outcome until the run is released', async () => {
    cutBefore('model_call_end', 2)
    rmSync(join(place.data, 'tables'), { recursive: true })
    expect(await look(place, 'resume', run)).toMatchObject({ code: 1, err: expect.stringContaining('LOG_SHORTENED') })
    expect(await look(place, 'repair')).toMatchObject({ code: 5, out: expect.stringContaining('any unfinished run') })
    expect(await look(place, 'repair', '--accept-loss', '--yes')).toMatchObject({ code: 0 })
    expect(await look(place, 'resume', run)).toMatchObject({ code: 8 })
    expect(await approved()).toMatchObject({ code: 8 })
    expect((await look(place, 'runs', 'show', run)).out).toContain('waits: doubt')
    expect(effectsIn(place)).toBe('two\n')
    expect(await look(place, 'release', run)).toMatchObject({ code: 1, err: expect.stringContaining('NOT_PARKED') })
    expect(await look(place, 'release-calls', '--all')).toMatchObject({
      code: 0,
      out: expect.stringContaining('1 run'),
    })
    const again = await look(place, 'release-calls', run)
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining('NO_LOSS_TO_RELEASE') })
  })
})

test('an old copy of the log beside newer tables and a newer mark is a loss', async () => {
  cutBefore('driver_claimed', 2)
  const old = join(place.root, 'old.db')
  cpSync(log, old)
  rmSync(place.data, { recursive: true })
  cpSync(kept, place.data, { recursive: true })
  for (const end of ['-wal', '-shm']) rmSync(log + end, { force: true })
  cpSync(old, log)
  expect(await look(place, 'resume', run)).toMatchObject({ code: 1, err: expect.stringContaining('LOG_SHORTENED') })
})

test('a run whose stream lost its end in the middle of the log is not driven', async () => {
  await look(place, 'run', '--no-workspace', '--model', modelOf(place), '--max-turns', '1', 'another')
  const db = new DatabaseSync(log)
  for (const { name } of db.prepare("select name from sqlite_schema where type = 'trigger'").all())
    db.exec(`drop trigger ${name}`)
  const of = `stream = (select id from streams where name = 'agent-${run}') and revision > 8`
  db.exec(
    `delete from bodies where position in (select position from events where ${of}); delete from events where ${of}`,
  )
  db.close()
  expect(await look(place, 'resume', run)).toMatchObject({ code: 1, err: expect.stringContaining('LOG_SHORTENED') })
  expect(await look(place, 'verify')).toMatchObject({ code: 5 })
  expect(await look(place, 'repair', '--accept-loss', '--yes')).toMatchObject({ code: 0 })
  expect(await look(place, 'resume', run)).toMatchObject({ code: 8 })
})

test('tables that were emptied are named, and come back of the log', async () => {
  const tables = join(place.data, 'tables')
  const file = join(tables, readFileSync(join(tables, 'current'), 'utf8').trim())
  truncateSync(file, 0)
  expect(() => openSql(place.data)).toThrow(/tables file .* is empty.*keepup rebuild/)
  const { out } = await look(place, 'doctor')
  expect(out).toMatch(/tables file +warning .*it is empty/)
  expect((await look(place, 'runs', 'list')).out).toContain(run)
  expect(await look(place, 'verify')).toMatchObject({ code: 0 })
})

describe('the log has lost every event', () => {
  beforeEach(() => {
    for (const end of ['', '-wal', '-shm']) rmSync(log + end, { force: true })
    ensureFile(join(place.data, 'log'))
  })

  test.each(['with its mark', 'without its mark'])(
    '%s, it is read by the tables until the loss is accepted',
    async (how) => {
      if (how === 'without its mark') rmSync(markOf(join(place.data, 'log')))
      for (const command of [
        ['resume', run],
        ['run', '--no-workspace', '--model', modelOf(place), 'new'],
      ])
        expect(await look(place, ...command)).toMatchObject({ code: 1, err: expect.stringContaining('LOG_SHORTENED') })
      expect((await look(place, 'runs', 'list')).out).toContain('shortened')
      expect(await look(place, 'repair')).toMatchObject({
        code: 5,
        out: expect.stringContaining(`agent-${run} vanished`),
      })
      expect(await look(place, 'repair', '--accept-loss', '--yes')).toMatchObject({ code: 0 })
      expect(await look(place, 'repair')).toMatchObject({ code: 0 })
      expect(await look(place, 'verify')).toMatchObject({ code: 0 })
    },
  )
})

test('tables of another log are not replaced unasked', async () => {
  for (const end of ['', '-wal', '-shm']) rmSync(log + end, { force: true })
  rmSync(markOf(join(place.data, 'log')))
  await (await openSqliteLog({ folder: join(place.data, 'log'), mode: 'owner' })).close()
  const tables = join(place.data, 'tables')
  const before = readdirSync(tables)
  expect(await look(place, 'resume', run)).toMatchObject({
    code: 1,
    err: expect.stringMatching(/tables.*another log.*move/),
  })
  expect(readdirSync(tables)).toEqual(before)
  rmSync(tables, { recursive: true })
  expect(
    await look(place, 'run', '--no-workspace', '--model', modelOf(place), '--max-turns', '1', 'new'),
  ).not.toMatchObject({
    err: expect.stringContaining('another log'),
  })
})

test.each([
  ['a FIFO', (path: string) => execFileSync('mkfifo', [path]), /log mark +warning .*no regular file.*move it away/],
  ['the mark of another log', (path: string) => cpSync(otherMark(), path), /log mark +broken .*is of another log/],
])('doctor names %s in the place of the mark', async (_, put, finding) => {
  const path = markOf(join(place.data, 'log'))
  rmSync(path)
  put(path)
  expect((await look(place, 'doctor')).out).toMatch(finding)
})

function otherMark(): string {
  const folder = mkdtempSync(join(place.root, 'other-'))
  MarkWriter.open(folder, '0123456789abcdef').update(1, 'a'.repeat(64))
  return markOf(folder)
}
