import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { openKeepUp } from '../../../api/library/open-keepup.ts'
import { accountName } from '../../../api/operations/access/account-name.ts'
import { cliFolder, inProcess } from '../support/cli.ts'

const folder = cliFolder()
afterAll(() => folder.clean())
const { look, data } = folder

const scripts = { done: { script: 1 as const, turns: [{ calls: [complete()] }] } }
function complete() {
  return { tool: 'complete_task', arguments: { summary: 'done' } }
}

it('keeps, holds and erases texts, and reports who could do what', async () => {
  const keepup = await openKeepUp({ data, by: 'ann', scripts })
  const { runId } = await keepup.start({ task: 'go', model: 'scripted:done' })
  await keepup.drive(runId)
  await keepup.close()

  expect((await look('decisions', runId)).out).toMatch(/complete_task +allowed +policy +control/)
  expect((await look('retention', 'set', 'run', '180')).out).toBe('run: 180\n')
  expect((await look('retention')).out).toMatch(/\nrun +180 .*\nexternal +never\n/)
  expect((await look('retention', 'set', 'run', 'soon')).code).toBe(2)
  expect((await look('retention', 'sweep', '--dry-run')).code).toBe(0)
  const unsaid = await look('retention', 'set', 'run', '0')
  expect([unsaid.code, unsaid.err]).toEqual([2, expect.stringContaining('--yes')])
  expect((await look('retention')).out).toMatch(/\nrun +180 /)
  expect((await look('retention', 'set', 'run', '0', '--yes')).out).toBe('run: 0\n')
  expect((await look('retention', 'set', 'run', '180')).out).toBe('run: 180\n')

  const prefix = runId.slice(0, 9)
  const [, hold = ''] = /^(\w{8}): holds agent-/.exec((await look('hold', 'set', prefix, '--reason', 'Smith')).out)!
  const held = await look('erase', runId, '--all', '--code', 'legal', '--reason', 'x', '--yes')
  expect([held.code, held.err]).toEqual([1, expect.stringContaining(`hold lift ${hold}`)])
  expect((await look('access', 'report', runId)).out).toMatch(
    /held by:\n {2}\w{8}: agent-.*Smith\nretention: 180 days from /,
  )
  expect((await look('hold', 'lift', hold)).code).toBe(2)
  expect((await look('hold', 'lift', hold, '--reason', 'settled')).out).toBe(`${hold}: lifted\n`)
  expect((await look('hold', 'list')).out).not.toContain(hold)
  expect((await look('hold', 'list', '--all')).out).toContain(hold)
  expect((await look('erase', runId, '--all', '--code', 'legal', '--reason', 'x', '--yes')).code).toBe(0)
  expect((await look('access', 'report', runId)).out).toMatch(/erased:\n.*legal/)

  const misspelt = await look('access', 'approvers', '--tools', 'run_comand,mail:*')
  expect([misspelt.code, misspelt.err]).toEqual([2, expect.stringContaining('no tool is named run_comand;')])
  for (const tools of ['run_command', 'send*', 'mail:send'])
    expect((await look('access', 'approvers', '--tools', tools)).err).toContain('keepup access init')
  const reserved = await look('access', 'init', 'system')
  expect([reserved.code, reserved.err]).toEqual([1, expect.stringContaining('use another id')])
  const key = (await look('access', 'init', 'ann')).out.trim()
  expect(key).toMatch(/^ku_key_/)
  expect((await look('access', 'report')).out).toMatch(/ann.*admin/)
}, 90_000)

it('says how access is turned on, also in a folder that does not exist', async () => {
  const shown = await inProcess(['--data', join(folder.root, 'new'), 'access', 'show'])
  expect([shown.code, shown.out]).toEqual([0, expect.stringContaining('access is off; keepup access init <you>')])
})

it('a name that facts would not record is refused, also that of the account, and for requests without a name', async () => {
  const data = join(folder.root, 'named')
  const as = (key: string | null, ...args: string[]) =>
    inProcess(['--data', data, ...args], { ...(key !== null && { KEEPUP_KEY: key }) })
  const ann = (await as(null, 'access', 'init', 'ann')).out.trim()
  const change = ['access', 'separation', 'on']
  const backup = ['backup', join(folder.root, 'copy')]
  for (const args of [change, backup]) {
    const account = await as(null, '--by', accountName(), ...args)
    expect([account.code, account.err]).toEqual([1, expect.stringMatching(/facts record "recovery".*BY_REFUSED/)])
    const other = await as(ann, '--by', 'ben', ...args)
    expect([other.code, other.err]).toEqual([
      1,
      expect.stringMatching(/facts record "ann"; leave out --by.*BY_REFUSED/),
    ])
  }
  for (const given of [[], ['--by', 'ann']]) expect((await as(ann, ...given, ...change)).code).toBe(0)
  expect((await as(null, ...change)).code).toBe(0)
}, 90_000)

it('a run is refused before it is recorded with a key that cannot follow it, and a key used on a day is recorded once', async () => {
  const data = join(folder.root, 'keyed')
  const as = (key: string | null, ...args: string[]) =>
    inProcess(['--data', data, ...args], {
      KEEPUP_MODEL: folder.env.KEEPUP_MODEL,
      ...(key !== null && { KEEPUP_KEY: key }),
    })
  const admin = (await as(null, 'access', 'init', 'ann')).out.trim()
  await as(admin, 'access', 'add', 'nightly', '--service', '--role', 'operator')
  const key = (await as(admin, 'access', 'key', 'nightly', '--only', 'runs.start,runs.read,system.read')).out.trim()
  const run = ['run', 'write', '--no-workspace']
  const refused = await as(key, ...run)
  expect([refused.code, refused.err]).toEqual([
    1,
    expect.stringMatching(/right runs.steer and bodies.read, which following/),
  ])
  expect(refused.err).toContain('--no-drive')
  expect(JSON.parse((await as(admin, '-o', 'json', 'runs', 'list')).out)).toEqual([])
  expect((await as(key, ...run, '--no-drive')).code).toBe(0)
  const sql = "select count(*) as n from access_uses where type = 'key_used' group by key"
  expect(JSON.parse((await as(admin, '-o', 'json', 'sql', sql)).out)).toEqual([{ n: 1 }, { n: 1 }])
}, 90_000)
