import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openKeepUp } from '../../api/library/open-keepup.ts'
import { paths } from '../../api/process/host/paths.ts'
import { newPlace } from '../support/faults/cli.ts'
import { look } from '../support/faults/inspect.ts'
import { scripted } from '../support/faults/jobs.ts'
import { FAULT_TIMEOUT_MS } from '../support/faults/seed.ts'

vi.setConfig({ testTimeout: FAULT_TIMEOUT_MS, hookTimeout: FAULT_TIMEOUT_MS })

// A program that can write the file can remove events and leave valid chains. The tables have seen the events.

const place = newPlace()
const file = join(place.data, 'log', 'log.db')
const kept = join(place.root, 'kept')
const ids: string[] = []
let document = ''
afterAll(() => place.remove())

beforeAll(async () => {
  const model = scripted(place, {
    script: 1,
    turns: [{ calls: [{ tool: 'complete_task', arguments: { summary: 's' } }] }],
  })
  for (const task of ['first', 'second', 'third']) {
    const { code, err } = await look(place, 'run', '--no-workspace', '--model', model, task)
    expect(code).toBe(0)
    ids.push(/^run (\w+)$/m.exec(err)![1]!)
  }
  await using keepup = await openKeepUp({ data: place.data, by: 'ann' })
  await keepup.contextStore('review').set('goal', 'x')
  document = (await keepup.createDocument({ title: 'plan' })).documentId
  await keepup.close()
  cpSync(place.data, kept, { recursive: true })
})

/** Changes the log as it was, past its own guards; `at`: which of a stream's rows. */
function change(sql: (at: string) => string[], stream = `agent-${ids[1]}`): void {
  rmSync(place.data, { recursive: true })
  cpSync(kept, place.data, { recursive: true })
  const db = new DatabaseSync(file)
  const guards = db.prepare("select name, sql from sqlite_schema where type = 'trigger'").all()
  for (const { name } of guards) db.exec(`drop trigger ${name}`)
  db.exec('pragma foreign_keys = off')
  const at = `stream = (select id from streams where name = '${stream}')`
  for (const statement of sql(at)) db.exec(statement)
  for (const { sql } of guards) db.exec(String(sql))
  db.close()
}
const without = (which: string) => (at: string) => [
  `delete from bodies where position in (select position from events where ${at} and ${which})`,
  `delete from events where ${at} and ${which}`,
]
const others = () => expect.stringMatching(new RegExp(`${ids[2]}: holds[\\s\\S]*${ids[0]}: holds`))

test.each([
  ['a whole run', 'revision >= 0', 'BROKEN, 0 events'],
  ['the last events of a run', 'revision > 3', 'BROKEN, 4 events'],
])('%s is gone: verify names the run, and goes on with the others', async (_, which, says) => {
  change(without(which))
  const all = await look(place, 'verify')
  expect(all).toMatchObject({ code: 5, out: others() })
  expect(all.out).toContain(`${ids[1]}: ${says}`)
  expect(all.out).toMatch(/revision \d+ CHAIN: the log ends before revision \d+, which the tables have seen/)
  expect(await look(place, 'verify', ids[1]!)).toMatchObject({ code: 5 })
  const whole = expect.stringMatching(
    /the log as a whole contradicts its last signed head; what was changed: keepup .*verify/,
  )
  // A head of before the change proves the first run, and none proves the third.
  expect(await look(place, 'verify', ids[0]!)).toMatchObject({
    ...{ code: 0, err: whole },
    out: expect.stringMatching(/: holds, .* signed\),.*\n {2}HEAD: the signed head .* but not at these events/),
  })
  expect(await look(place, 'verify', ids[2]!)).toMatchObject({
    ...{ code: 5, err: whole },
    out: expect.stringMatching(/: holds, .*\n {2}HEAD: the signed head of \d+ events does not contain revision/),
  })
})

test.each([
  ['a store', () => 'context-review'],
  ['a document', () => `document-${document}`],
  ['the stream of the heads', () => 'proof-log'],
])('%s is gone: verify names it as a finding', async (_, name) => {
  const stream = name()
  change(without('revision >= 0'), stream)
  const all = await look(place, 'verify')
  expect(all).toMatchObject({ code: 5, out: others() })
  expect(all.out).toMatch(/: BROKEN, 0 events .*\n {2}revision 0 CHAIN: the log ends before revision \d+, /)
  const one = await look(place, 'streams', 'verify', stream)
  expect(one).toMatchObject({ code: 5, out: expect.stringContaining('BROKEN, 0 events') })
})

test('an event that was moved to another place parks its run, and stops no other', async () => {
  change((at) => [`update events set position = 99999 where ${at} and revision = 2`])
  rmSync(paths(place.data).tables, { recursive: true })
  const all = await look(place, 'verify')
  expect(all).toMatchObject({ code: 5, out: others() })
  expect(all.out).toContain(`${ids[1]}: BROKEN`)
  expect(all.out).toMatch(new RegExp(`agent-${ids[1]} is parked in the tables at 3 \\(GAP\\)`))
  expect((await look(place, 'doctor')).out).toMatch(/parked +warning +1 stream is shown only in part/)
  expect((await look(place, 'runs', 'list')).out).toMatch(new RegExp(`${ids[1]}.*read in part`))
  expect((await look(place, 'runs', 'show', ids[1]!)).err).toContain('goes on with revision 3 where 2 must follow')
  expect(await look(place, 'release', '--all')).toMatchObject({ out: expect.stringMatching(/^0 released, 1 still/) })
  expect(await look(place, 'runs', 'show', ids[2]!)).toMatchObject({ code: 0 })
})

test('a body that does not unpack parks its run, and stops no other', async () => {
  change((at) => [
    `update bodies set packed = 1, bytes = x'00ff' where position = (select position from events where ${at} and revision = 1)`,
  ])
  rmSync(paths(place.data).tables, { recursive: true })
  const all = await look(place, 'verify')
  expect(all).toMatchObject({ code: 5, out: others() })
  expect(all.out).toMatch(new RegExp(`${ids[1]}: BROKEN[\\s\\S]*revision 1 BODY: `))
  expect(all.out).toContain(`agent-${ids[1]} is parked in the tables at 1 (BODY_MISMATCH)`)
})
