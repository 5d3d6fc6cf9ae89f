// @module-tag git
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openSql } from '../../../api/process/embedded/open-sql.ts'
import { cliFolder } from '../support/cli.ts'

// No view shows a payload as true that is not the one that was sealed.

const f = cliFolder()
let run = ''
afterAll(() => f.clean())

beforeAll(async () => {
  const { err } = await f.look(
    'run',
    'say what is true',
    '-w',
    f.workspace(),
    '--max-turns',
    '1',
    '--tools',
    'list_dir',
  )
  run = /^run (\w+)$/m.exec(err)![1]!
  const db = new DatabaseSync(join(f.data, 'log', 'log.db'))
  const guards = db.prepare("select name, sql from sqlite_schema where type = 'trigger'").all()
  for (const { name } of guards) db.exec(`drop trigger ${name}`)
  const at = db
    .prepare("select position from events e join kinds k on k.id = e.kind where k.type = 'user_input'")
    .get()!
  const body = JSON.stringify({ text: 'say what is fals' })
  db.prepare('update bodies set bytes = ?, packed = 0 where position = ?').run(Buffer.from(body), Number(at.position))
  for (const { sql } of guards) db.exec(String(sql))
  db.close()
})

test('the events of the run mark it and withhold it, and end with the code of damage', async () => {
  const shown = await f.look('events', run)
  expect(shown).toMatchObject({
    code: 5,
    out: expect.stringContaining('(altered: the stored body'),
    err: expect.stringContaining('altered'),
  })
  expect(shown.out).not.toContain('what is fals')
  const { code, out } = await f.look('-o', 'jsonl', 'events', run)
  const all = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(code).toBe(5)
  expect(all.filter(({ altered }) => altered)).toEqual([expect.objectContaining({ type: 'user_input', payload: null })])
})

test('so do the stream of all events and the export', async () => {
  expect(await f.look('-o', 'jsonl', 'tail', '--no-follow')).toMatchObject({
    code: 5,
    out: expect.stringContaining('"altered":true'),
  })
  expect(await f.look('export', run)).toMatchObject({ code: 5, err: expect.stringContaining('altered') })
})

test('SQL shows the mark in its place', () => {
  const { db, close } = openSql(f.data)
  try {
    expect(db.prepare("select payload from events where event_type = 'user_input'").all()).toEqual([
      { payload: '{"altered":true}' },
    ])
  } finally {
    close()
  }
})
