// @module-tag git
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { LogError } from '../../../domain/log/errors.ts'
import { bodyOf, openWorld } from '../support/http.ts'

const world = await openWorld({ maxBodyBytes: 65_536 })
afterAll(() => world.close())
const { ask, driven, root, data } = world

async function finished(name: string): Promise<{ id: string; workspace: string }> {
  const workspace = join(root, name)
  mkdirSync(workspace)
  for (let n = 0; n < 30; n++) writeFileSync(join(workspace, `${n}.txt`), `${n}`)
  return { id: await driven('finish it', { workspace }), workspace }
}
const fork = (id: string, workspace: string) => ask('POST', `/v1/runs/${id}/fork`, { body: { step: 1, workspace } })

it('of many forks into one folder, one gets it', async () => {
  const { id } = await finished('source')
  const folder = join(root, 'forked')
  const answers = await Promise.all(Array.from({ length: 4 }, () => fork(id, folder)))
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409])
  for (const answer of answers.filter(({ status }) => status === 409))
    expect(['WORKSPACE_BUSY', 'FOLDER_NOT_EMPTY']).toContain((await bodyOf(answer)).code)
  expect(readdirSync(folder)).toHaveLength(30)
})

/** Forks while the log fails: what is appended is written or not, and the answer is an error of this code. */
async function failing(code: 'LOG_CLOSED' | 'LOG_FULL', written: boolean, fork: () => Promise<Response>) {
  const { log } = world.services
  const append = log.append.bind(log)
  log.append = async (...asked) => {
    if (asked[0].startsWith('key-')) return append(...asked)
    if (written) await append(...asked)
    throw new LogError(code, 'it failed')
  }
  try {
    return (await bodyOf(await fork())).code
  } finally {
    log.append = append
  }
}

it.each([
  ['it is in the log', true, 200],
  ['it is not', false, 201],
])('a fork whose record is unknown keeps its files; asked for again, %s', async (_, written, status) => {
  const { id } = await finished(`unknown-${written}`)
  const folder = join(root, `unknown-${written}-fork`)
  const keyed = (key: string) =>
    ask('POST', `/v1/runs/${id}/fork`, { body: { step: 1, workspace: folder }, headers: { 'idempotency-key': key } })
  expect(await failing('LOG_CLOSED', written, () => keyed(`k-${written}`))).toBe('LOG_CLOSED')
  expect(readdirSync(folder)).toHaveLength(30)
  expect((await bodyOf(await keyed(`other-${written}`))).code).toBe('FOLDER_NOT_EMPTY')
  expect(readdirSync(folder)).toHaveLength(30)
  if (!written) rmSync(join(folder, '7.txt'))
  const again = await keyed(`k-${written}`)
  expect(again.status).toBe(status)
  expect(await bodyOf(again)).toMatchObject({ workspace: folder, created: !written })
  expect(readdirSync(folder)).toHaveLength(30)
})

const keyedFork = (id: string, workspace: string, key: string) =>
  ask('POST', `/v1/runs/${id}/fork`, { body: { step: 1, workspace }, headers: { 'idempotency-key': key } })
const notes = () => readdirSync(join(data, 'locks')).filter((name) => name.startsWith('fork-'))

it.each([
  ['changed a file', (folder: string) => writeFileSync(join(folder, '3.txt'), 'mine')],
  ['added a file', (folder: string) => writeFileSync(join(folder, 'mine.txt'), 'mine')],
])('a fork that is asked for again is never put over the files of a person who %s meanwhile', async (name, work) => {
  const { id } = await finished(`worked ${name}`)
  const folder = join(root, `worked ${name} fork`)
  await failing('LOG_CLOSED', false, () => keyedFork(id, folder, name))
  work(folder)
  rmSync(join(folder, '7.txt'))
  const contents = () => readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')])
  const before = contents()
  const answer = await keyedFork(id, folder, name)
  expect([answer.status, await bodyOf(answer)]).toMatchObject([
    409,
    { code: 'FOLDER_NOT_EMPTY', detail: expect.stringMatching(/move them elsewhere .* or name a new folder/) },
  ])
  expect(contents()).toEqual(before)
  for (const file of readdirSync(folder)) rmSync(join(folder, file))
  expect((await keyedFork(id, folder, name)).status).toBe(201)
  expect(readdirSync(folder)).toHaveLength(30)
})

it('nothing is kept for a repeat when the fork was found, or cannot be asked for again', async () => {
  const { id } = await finished('noted')
  const before = notes()
  await failing('LOG_CLOSED', true, () => keyedFork(id, join(root, 'noted-keyed'), 'noted'))
  expect(notes()).toHaveLength(before.length + 1)
  expect((await keyedFork(id, join(root, 'noted-keyed'), 'noted')).status).toBe(200)
  expect(notes()).toEqual(before)
  await failing('LOG_CLOSED', false, () => fork(id, join(root, 'noted-unkeyed')))
  expect(readdirSync(join(root, 'noted-unkeyed'))).toHaveLength(30)
  expect(notes()).toEqual(before)
})

it('a fork whose record is unknown tells where its files are', async () => {
  const { id } = await finished('told')
  const folder = join(root, 'told-fork')
  const told: unknown[] = []
  await failing('LOG_CLOSED', false, async () => {
    const answer = await keyedFork(id, folder, 'told')
    told.push(answer.status, await bodyOf(answer.clone()))
    return answer
  })
  const detail = expect.stringMatching(`^it failed; its files are in ${folder}: .* a new folder, or this one emptied$`)
  expect(told).toMatchObject([503, { code: 'LOG_CLOSED', detail }])
  const other = await bodyOf(await keyedFork(id, folder, 'told-other'))
  expect(other).toMatchObject({ code: 'FOLDER_NOT_EMPTY', detail: expect.stringContaining('or empty this one') })
})

it('a fork that failed before anything could be recorded leaves the folder as it was found', async () => {
  const { id } = await finished('early')
  const folder = join(root, 'early-fork')
  const before = notes()
  const { log } = world.services
  const read = log.read.bind(log)
  log.read = (...asked) => {
    if (existsSync(join(folder, '29.txt'))) throw new LogError('LOG_CORRUPT', 'it cannot be read')
    return read(...asked)
  }
  try {
    expect((await bodyOf(await keyedFork(id, folder, 'early'))).code).toBe('LOG_CORRUPT')
  } finally {
    log.read = read
  }
  expect([existsSync(folder), notes()]).toEqual([false, before])
})

it('a fork that was refused leaves the folder as it was found', async () => {
  const { id } = await finished('refused')
  const [made, found] = [join(root, 'refused-made'), join(root, 'refused-found')]
  mkdirSync(found)
  expect(await failing('LOG_FULL', false, () => fork(id, made))).toBe('LOG_FULL')
  expect(await failing('LOG_FULL', false, () => fork(id, found))).toBe('LOG_FULL')
  expect([existsSync(made), readdirSync(found)]).toEqual([false, []])
})

it('a fork into the data folder is refused and leaves nothing there', async () => {
  const { id } = await finished('other')
  const answer = await fork(id, join(data, 'sub', 'fork'))
  expect([answer.status, (await bodyOf(answer)).code]).toEqual([422, 'WORKSPACE_HOLDS_DATA'])
  expect(existsSync(join(data, 'sub'))).toBe(false)
})

it('files are not put back into a folder that took the place of the workspace', async () => {
  const { id, workspace } = await finished('moved')
  const elsewhere = join(root, 'elsewhere')
  mkdirSync(elsewhere)
  writeFileSync(join(elsewhere, 'mine.txt'), 'mine')
  renameSync(workspace, `${workspace}.old`)
  symlinkSync(elsewhere, workspace)
  const answer = await ask('POST', `/v1/runs/${id}/restore`, { body: { step: 1 } })
  expect([answer.status, (await bodyOf(answer)).code]).toEqual([422, 'WORKSPACE_MOVED'])
  expect(readdirSync(elsewhere)).toEqual(['mine.txt'])
})

it('what was erased is in no byte of the tables, nor of the snapshots', async () => {
  const id = await driven(`finish ${'the unspeakable matter of '.repeat(100)}`)
  const page = await bodyOf<{ events: object[] }>(await ask('GET', `/v1/runs/${id}/events?limit=500`))
  const holding = () =>
    readdirSync(data, { recursive: true, encoding: 'utf8' })
      .filter((name) => /^(tables\/|snapshots)/.test(name) && !name.endsWith('current'))
      .filter((name) => readFileSync(join(data, name)).includes('unspeakable'))
  expect(holding()).not.toEqual([])
  for (const revision of page.events.keys())
    await ask('POST', `/v1/runs/${id}/erase`, { body: { revision, reason: 'private' } })
  expect(await bodyOf(await ask('GET', `/v1/runs/${id}`))).toMatchObject({ run: { task: '[erased]' } })
  await world.services.read.caughtUp()
  expect(holding()).toEqual([])
})

it('a run that was erased is forked into a folder that is named, and only there', async () => {
  const { id } = await finished('erased')
  await ask('POST', `/v1/runs/${id}/erase`, { body: { all: true, reason: 'private' } })
  const unnamed = await ask('POST', `/v1/runs/${id}/fork`, { body: { step: 1 } })
  expect([unnamed.status, (await bodyOf(unnamed)).code]).toEqual([409, 'WORKSPACE_ERASED'])
  const restore = await bodyOf<{ detail: string }>(await ask('POST', `/v1/runs/${id}/restore`, { body: { step: 1 } }))
  expect(restore).toMatchObject({ code: 'WORKSPACE_ERASED', detail: expect.not.stringContaining('fork') })
  const folder = join(root, 'of-erased')
  expect((await fork(id, folder)).status).toBe(201)
  expect(readdirSync(folder)).toHaveLength(30)
})

it('tables that were removed are told, with what brings them back', async () => {
  rmSync(join(data, 'tables'), { recursive: true })
  const answer = await ask('GET', '/v1/runs')
  expect([answer.status, (await bodyOf(answer)).detail]).toEqual([503, expect.stringContaining('run "keepup rebuild"')])
  expect((await ask('POST', '/v1/projections/rebuild')).status).toBe(200)
  const { runs } = await bodyOf<{ runs: object[] }>(await ask('GET', '/v1/runs'))
  expect(runs.length).toBeGreaterThan(3)
})
