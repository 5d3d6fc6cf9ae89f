// @module-tag git
import { DatabaseSync } from 'node:sqlite'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { paths } from '../../../api/process/host/paths.ts'
import { liveFile } from '../../../projections/engine/store/pointer.ts'
import { cliFolder, idIn } from '../support/cli.ts'

// Every answer in SQL rests on the tables, so verify compares their rows with the log.

const folder = cliFolder()
let run = ''
const undo: string[] = []

/** Runs SQL on the tables' file, as a person with the data folder can. */
function edit(text: string, back: string): void {
  undo.push(back)
  execute(text)
}

function execute(text: string): void {
  const db = new DatabaseSync(liveFile(paths(folder.data).tables)!)
  db.exec(text)
  db.close()
}

/** The first row of a table. */
function row(table: string): Record<string, unknown> {
  const db = new DatabaseSync(liveFile(paths(folder.data).tables)!)
  const found = db.prepare(`select * from ${table}`).get()!
  db.close()
  return found
}

beforeAll(async () => {
  const started = await folder.look('run', 'write', '-w', folder.workspace(), '--tools', 'write_file')
  run = idIn(started.err)
  await folder.look('approve', `${run}.t1.c0`)
  await folder.look('resume', run)
})
afterEach(() => undo.splice(0).forEach(execute))
afterAll(() => folder.clean())

test('verify names an edited column, the stored value and that of the log, and ends with the code of damage', async () => {
  const by = String(row('approvals').decided_by)
  edit("update approvals set decided_by = 'user:mallory'", `update approvals set decided_by = '${by}'`)
  const found = await folder.look('verify', run)
  expect(found.code).toBe(5)
  expect(found.out).toContain(
    `TABLE: approvals (agent_id "${run}", tool_call_id "${run}.t1.c0"): decided_by is "user:mallory" where the log gives "${by}"`,
  )
  expect(found.err).toContain('keepup rebuild --accept')
})

test('verify of everything finds a run whose row was removed, and names the row', async () => {
  const values = Object.values(row('runs')).map((value) =>
    value === null ? 'null' : `'${String(value).replaceAll("'", "''")}'`,
  )
  edit(`delete from runs where id = '${run}'`, `insert into runs values (${values.join()})`)
  const found = await folder.look('verify')
  expect(found.code).toBe(5)
  expect(found.out).toContain(`the row of runs (id "${run}") is missing`)
  expect(found.out.trimEnd().split('\n').at(-1)).toMatch(new RegExp(`^BROKEN: run ${run}; checked the log`))
})

test('verify of everything finds rows of streams that the log does not hold', async () => {
  edit(
    "insert into approvals (agent_id, tool_call_id, run_id, status) values ('none', 'c', 'r', 'approved')",
    "delete from approvals where agent_id = 'none'",
  )
  expect(await folder.look('verify')).toMatchObject({
    code: 5,
    out: expect.stringContaining('TABLE: the log gives no row of approvals (agent_id "none")'),
  })
})

test('doctor compares a sample of streams, and names the run whose rows were edited', async () => {
  const sound = await folder.look('doctor')
  expect(sound.out).toMatch(/\nrows +ok +\d+ of \d+ streams? compared with the log\b/)
  edit("update runs set created_by = 'user:mallory'", `update runs set created_by = '${row('runs').created_by}'`)
  const found = await folder.look('doctor')
  expect(found.code).toBe(1)
  expect(found.out).toMatch(new RegExp(`\\nrows +broken +agent-${run}: rows of runs differ from the log`))
})

test('verify of everything ends with one line of its result', async () => {
  const found = await folder.look('verify')
  expect(found.code).toBe(0)
  expect(found.out).toContain('stream log-meta: holds, ')
  expect(found.out.trimEnd().split('\n').at(-1)).toMatch(
    /^all holds; checked the log, 1 run, \d+ other streams, 1 proof, the tables and the vault$/,
  )
})
