import { renameSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, expect, it } from 'vitest'
import { paths } from '../../../api/process/host/paths.ts'
import { liveFile } from '../../../projections/engine/store/pointer.ts'
import { cliFolder, idIn } from '../support/cli.ts'

const folder = cliFolder()
afterAll(() => folder.clean())
const at = paths(folder.data)
const lost = `${at.blobs}-lost`
const BIG = `finish ${'this task is long. '.repeat(8_000)}`

interface Listed {
  runId: string
  incomplete: boolean
}
const listed = async (...args: string[]): Promise<Listed[]> =>
  JSON.parse((await folder.look(...args, '-o', 'json')).out)

const parked = async (): Promise<unknown> =>
  ((await listed('doctor')) as unknown as { check: string }[]).find(({ check }) => check === 'parked')

const started = async (): Promise<string> => {
  const { code, err } = await folder.look('run', BIG, '--no-workspace')
  expect(code, err.slice(-300)).toBe(0)
  return idIn(err)
}

/** As after a restore that has lost the blobs: the tables are made without them, then they come back. */
async function restored<T>(meanwhile: () => Promise<T>): Promise<T> {
  rmSync(at.tables, { recursive: true, force: true })
  renameSync(at.blobs, lost)
  const found = await meanwhile()
  rmSync(at.blobs, { recursive: true, force: true })
  renameSync(lost, at.blobs)
  return found
}

it('names what a run lacks and how it is read again, and reads it again', async () => {
  const [first, second] = [await started(), await started()]
  const shown = await restored(async () => {
    expect(await folder.look('release', first)).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^0 released, 1 still parked\n {2}agent-.*BLOB_MISSING/),
    })
    expect(await parked()).toMatchObject({
      state: 'warning',
      found: '2 streams are shown only in part',
      todo: expect.stringContaining('"runs list" names them'),
    })
    return folder.look('runs', 'show', first)
  })
  expect(shown.err).toContain('BLOB_MISSING')
  expect(shown.err).toContain(`keepup release ${first}`)
  expect(shown.err).not.toContain('keepup resume')

  const kept = await folder.look('rebuild')
  expect(kept.code).toBe(5)
  expect(kept.out).toContain('NOT switched')
  expect(kept.err).toContain('keepup release --all')
  expect(kept.err).toContain('keepup rebuild --accept')

  expect((await listed('runs', 'list')).map(({ incomplete }) => incomplete)).toEqual([true, true])
  expect(await folder.look('release', first)).toMatchObject({ code: 0, out: '1 released, 0 still parked\n' })
  const after = await listed('runs', 'list')
  expect(after.filter(({ incomplete }) => incomplete).map(({ runId }) => runId)).toEqual([second])
  expect(await folder.look('release', first)).toMatchObject({ code: 1, err: expect.stringContaining('NOT_PARKED') })
  expect(await folder.look('release', '--all')).toMatchObject({ code: 0, out: '1 released, 0 still parked\n' })
  expect(await folder.look('release', '--all')).toMatchObject({ code: 0, out: '0 released, 0 still parked\n' })
  expect(await parked()).toBeUndefined()
  expect((await folder.look('rebuild')).out).toMatch(/are equal\nswitched/)
})

it('goes over to tables that are not equal where that is accepted', async () => {
  await restored(() => folder.look('runs', 'list'))
  expect((await listed('runs', 'list')).every(({ incomplete }) => incomplete)).toBe(true)
  const accepted = await folder.look('rebuild', '--accept')
  expect([accepted.code, accepted.out]).toEqual([
    0,
    expect.stringMatching(/NOT equal\n[\s\S]*switched to the new ones/),
  ])
  expect((await listed('runs', 'list')).some(({ incomplete }) => incomplete)).toBe(false)
})

it('is told which, one run or all', async () => {
  for (const args of [[], ['abc', '--all']]) expect((await folder.look('release', ...args)).code).toBe(2)
})

it('says that there are more runs than it lists', async () => {
  const one = await folder.look('runs', 'list', '--limit', '1')
  expect(one.out.trim().split('\n')).toHaveLength(2)
  expect(one.err).toBe(`these are the newest 1, there are more: keepup runs list --limit 10 --data ${folder.data}\n`)
  const all = await folder.look('runs', 'list', '--limit', '2')
  expect([all.out.trim().split('\n').length, all.err]).toEqual([3, ''])
})

it('a run whose first event could not be read is known by its id everywhere, and is read again', async () => {
  const { code, err } = await folder.look('run', 'finish', '--no-workspace', '--var', `big="${'a'.repeat(100_000)}"`)
  expect(code, err.slice(-300)).toBe(0)
  const id = idIn(err)
  await restored(async () => {
    const list = await folder.look('runs', 'list')
    expect([list.out, list.err]).toEqual([
      expect.stringMatching(/active.*, read in part/),
      expect.stringMatching(`damaged run can be read; why: .*keepup runs show ${id}`),
    ])
    expect(list.out).toMatch(new RegExp(`^${id} +damaged .*BLOB_MISSING`, 'm'))
    expect((await folder.look('rebuild', '--accept')).code).toBe(0)
    const after = await listed('runs', 'list')
    expect(after).toContainEqual(expect.objectContaining({ runId: id, status: 'damaged' }))
    expect(await listed('runs', 'list', '--status', 'active')).not.toContainEqual(
      expect.objectContaining({ runId: id }),
    )
    const shown = await folder.look('runs', 'show', id.slice(0, -1))
    expect(shown).toMatchObject({ code: 1, err: expect.stringMatching(/cannot be read from 0 on: .*BLOB_MISSING/) })
    for (const command of ['verify', 'release']) expect(shown.err).toContain(`keepup ${command} ${id}`)
    expect(await folder.look('verify', id.slice(0, -1))).toMatchObject({ code: 5 })
    expect(await folder.look('release', id)).toMatchObject({ code: 1, out: expect.stringContaining('1 still parked') })
  })
  expect(await folder.look('release', id.slice(0, -1))).toMatchObject({ code: 0, out: '1 released, 0 still parked\n' })
  expect((await folder.look('runs', 'show', id)).out).toContain('completed')
  expect(await folder.look('release', '--all')).toMatchObject({ code: 0 })
  const list = await folder.look('runs', 'list')
  expect([list.out.includes('in part'), list.err]).toEqual([false, ''])
  expect(await folder.look('runs', 'show', 'zz')).toMatchObject({
    code: 2,
    err: expect.stringContaining('no run begins'),
  })
})

it('verifies everything else when a row names a run that the log does not have', async () => {
  const db = new DatabaseSync(liveFile(at.tables)!)
  db.exec(
    "update streams set run_id = run_id || 'x' where stream = (select min(stream) from streams where run_id is not null)",
  )
  db.close()
  const { code, out } = await folder.look('verify')
  expect(code).toBe(5)
  expect(out).toMatch(/^\w+x: BROKEN, the tables list this run, but the log has no such run$/m)
  expect(out).toMatch(/BROKEN: .*\brun \w+x\b.*; checked the log, \d+ runs, .*the tables and the vault\n$/)
})
