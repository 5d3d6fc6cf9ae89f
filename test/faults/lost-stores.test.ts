// @module-tag git
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { inProcess } from '../api/support/cli.ts'
import { type Ended, keepup, newPlace, type Place, runIdIn } from '../support/faults/cli.ts'
import { sandboxFlag, scripted } from '../support/faults/jobs.ts'
import { FAULT_TIMEOUT_MS } from '../support/faults/seed.ts'

// Real processes: on a busy machine each of them takes seconds.
vi.setConfig({ testTimeout: FAULT_TIMEOUT_MS, hookTimeout: FAULT_TIMEOUT_MS })

const write = (path: string) => ({ calls: [{ tool: 'write_file', arguments: { path, content: `This is ${path}.` } }] })
const script = {
  script: 1 as const,
  turns: [write('a.txt'), write('b.txt'), { calls: [{ tool: 'complete_task', arguments: { summary: 'Done.' } }] }],
}
const run = (place: Place, model: string, ...more: string[]) => [
  'run',
  ...['--model', model, '-w', place.workspace, '--approve', 'write_file', ...sandboxFlag, ...more],
  'Write',
]
/** The same command line, in this process. */
const here = (place: Pick<Place, 'data'>, args: readonly string[]) =>
  inProcess(['--data', place.data, '--by', 'ada', ...args])
const told = (ended: Pick<Ended, 'code' | 'err'>, says: string | RegExp) => {
  expect(ended.err).toMatch(says)
  expect(ended.code).toBe(1)
  expect(ended.err).not.toMatch(/should not have happened|^ +at /m)
}

const filesOf = (folder: string) => readdirSync(folder, { recursive: true }).sort()

describe('a lost part of a data folder', () => {
  const place = newPlace()
  const model = scripted(place, script)
  const at = (name: string) => join(place.data, name)
  let runId = ''
  afterAll(() => place.remove())
  beforeAll(async () => {
    const ended = await here(place, run(place, model))
    expect(ended).toMatchObject({ code: 0 })
    runId = runIdIn(ended)
  })

  test.each([
    ['an emptied log', 'log/log.db', (path: string) => truncateSync(path, 0), /LOG_MISSING|restore log\.db/],
    ['a deleted log', 'log', (path: string) => rmSync(path, { recursive: true }), /restore log\.db/],
    ['a deleted vault', 'vault', (path: string) => rmSync(path, { recursive: true }), /restore the folder "vault"/],
  ])('%s is told, by writers and by readers, and nothing is put in its place', async (_, name, lose, says) => {
    const kept = join(place.root, 'kept')
    cpSync(at(name), kept, { recursive: true })
    lose(at(name))
    told(await here(place, run(place, model)), says)
    told(await here(place, ['runs', 'list']), says)
    told(await here(place, ['verify']), says)
    rmSync(at(name), { recursive: true, force: true })
    renameSync(kept, at(name))
    expect(await here(place, ['runs', 'show', runId])).toMatchObject({ code: 0 })
  })

  test('versions: told, and a run goes on once they were moved away; steps before say that their files are lost', async () => {
    const begun = await here(place, run(place, model, '--no-drive'))
    const id = runIdIn(begun)
    writeFileSync(join(at('versions.git'), 'HEAD'), '')
    told(await here(place, ['resume', id]), /versions\.git are damaged.*move it away/)
    renameSync(at('versions.git'), join(place.root, 'old-versions'))
    expect(await here(place, ['resume', id])).toMatchObject({ code: 0, out: 'Done.\n' })
    told(await here(place, ['restore', runId, '1']), 'files of this step are lost')
    expect(readFileSync(join(place.workspace, 'b.txt'), 'utf8')).toBe('This is b.txt.')
  })
})

describe('a data folder that cannot be used', () => {
  const place = newPlace()
  const model = scripted(place, script)
  afterAll(() => place.remove())

  test.each([
    ['owner.sock', 'is not the socket that keepup keeps there; move it away'],
    ['owner.path', 'is not the file that keepup keeps there; move it away'],
    ['token', 'is not the file that keepup keeps there; move it away'],
  ])('%s is a folder', async (name, says) => {
    mkdirSync(join(place.data, name), { recursive: true })
    told(await here(place, run(place, model)), says)
    expect(existsSync(join(place.data, name))).toBe(true)
    rmSync(place.data, { recursive: true })
  })

  test.each(['locks', 'versions.git', 'tables', 'log'])('%s is a file', async (name) => {
    mkdirSync(place.data, { recursive: true })
    writeFileSync(join(place.data, name), 'mine')
    told(await here(place, run(place, model)), `${name} is not the folder that keepup keeps there; move it away`)
    expect(readdirSync(place.data)).toEqual([name])
    rmSync(place.data, { recursive: true })
  })

  test('a place where no folder can be made', async () => {
    told(await here({ data: '/proc/keepup/x' }, run(place, model)), /cannot write to.*ENOENT.*--data/)
  })

  test('a read-only file system', { tags: ['bubblewrap'] }, async () => {
    mkdirSync(place.data, { recursive: true })
    const wrap = ['bwrap', '--dev-bind', '/', '/', '--ro-bind', place.data, place.data]
    told(await keepup(place, run(place, model), { wrap }), /file system is read-only.*--data/)
    expect(await keepup(place, run(place, model))).toMatchObject({ code: 0 })
    const backup = join(place.root, 'backup')
    expect(await keepup(place, ['backup', backup])).toMatchObject({ code: 0 })
    const archive = { ...place, data: backup }
    const still = { wrap: ['bwrap', '--dev-bind', '/', '/', '--ro-bind', backup, backup] }
    const before = filesOf(backup)
    const listed = await keepup(archive, ['runs', 'list', '-o', 'json'], still)
    const [{ runId }] = JSON.parse(listed.out) as [{ runId: string }]
    expect(await keepup(archive, ['verify'], still)).toMatchObject({ code: 0 })
    const packed = await keepup(archive, ['pack', runId, '--to', join(place.root, 'run.pack')], still)
    expect(packed).toMatchObject({ code: 0 })
    expect(filesOf(backup)).toEqual(before)
  })
})
