// @module-tag git
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { openWorkspace } from '../../../adapters/workspace/open.ts'
import { storeBlobs } from '../../../adapters/workspace/shadow-repository.ts'
import { createRedactor } from '../../../domain/secrets/redactor.ts'
import { freshFolders } from '../../support/folders.ts'
import { asOrdinaryUser } from '../../support/programs/ordinary-user.ts'

const SECRET = 'hunter2-and-more'
const { redactBytes } = createRedactor({ key: new Uint8Array(32), known: [SECRET] })
const secrets = { redactBytes, remember: async () => {}, resolve: () => null }

let folders: ReturnType<typeof freshFolders>
afterEach(() => folders.remove())
const inside = (path: string) => join(folders.ws, path)
const text = (bytes: Uint8Array | null) => (bytes === null ? null : Buffer.from(bytes).toString())

async function opened() {
  const told: string[] = []
  const ws = await openWorkspace(folders.ws, { dataFolder: folders.data, secrets, warn: (line) => told.push(line) })
  return { ws, told }
}

it.each([
  ['few', 1],
  ['many', 40],
])('files that cannot be read, beside %s that can, keep what was read of them last', async (_, others) => {
  await asOrdinaryUser(async () => {
    folders = freshFolders()
    mkdirSync(inside('shut'))
    writeFileSync(inside('closed'), 'first')
    writeFileSync(inside('shut/file'), 'first')
    const { ws, told } = await opened()
    const before = await ws.versions.snapshot()
    writeFileSync(inside('closed'), 'second')
    writeFileSync(inside('new'), 'never read')
    for (const name of ['closed', 'new', 'shut']) chmodSync(inside(name), 0o000)
    for (let n = 0; n < others; n++) writeFileSync(inside(`other-${n}`), `${n}`)
    try {
      const after = await ws.versions.snapshot()
      expect(await ws.versions.snapshot()).toBe(after)
      expect(text(await ws.versions.read(after, 'closed'))).toBe('first')
      expect(text(await ws.versions.read(after, 'shut/file'))).toBe('first')
      expect(await ws.versions.read(after, 'new')).toBeNull()
      expect(text(await ws.versions.read(after, 'other-0'))).toBe('0')
      expect(told.map((line) => line.split(' ')[0]).sort()).toEqual(['closed', 'new', 'shut/file'])
      await ws.versions.restore(before)
      expect(readdirSync(folders.ws).sort()).toEqual(['closed', 'new', 'shut'])
    } finally {
      for (const [name, mode] of [
        ['closed', 0o600],
        ['new', 0o600],
        ['shut', 0o700],
      ] as const)
        chmodSync(inside(name), mode)
    }
    expect(readFileSync(inside('closed'), 'utf8')).toBe('second')
    expect(text(await ws.versions.read(await ws.versions.snapshot(), 'closed'))).toBe('second')
  })
})

it('an unreadable file is not overwritten, because no version holds it', async () => {
  await asOrdinaryUser(async () => {
    folders = freshFolders()
    writeFileSync(inside('f'), 'first')
    const { ws } = await opened()
    const first = await ws.versions.snapshot()
    writeFileSync(inside('f'), 'second')
    await ws.versions.snapshot()
    writeFileSync(inside('f'), 'third')
    chmodSync(inside('f'), 0o000)
    await expect(ws.versions.restore(first)).rejects.toMatchObject({ code: 'CONFLICT', message: /f is in the way/ })
    chmodSync(inside('f'), 0o600)
    expect(readFileSync(inside('f'), 'utf8')).toBe('third')
  })
})

it('files with a secret in their names are in no version, and no byte of a name is kept', async () => {
  folders = freshFolders()
  mkdirSync(inside(`d-${SECRET}`))
  writeFileSync(inside(`d-${SECRET}/f`), '1')
  writeFileSync(inside(`${SECRET}.txt`), '2')
  writeFileSync(inside('plain'), '3')
  const { ws, told } = await opened()
  const tree = await ws.versions.snapshot()
  expect((await ws.versions.changes(await emptyTree(), tree)).map(({ path }) => path)).toEqual(['plain'])
  expect(told).toHaveLength(2)
  expect(told.join()).toMatch(/d-secret:ku_\w{26}\/f has a secret in its name.*secret:ku_\w{26}\.txt/s)
  expect(told.join()).not.toContain(SECRET)
  const index = join(folders.data, 'versions-index')
  for (const name of readdirSync(index)) expect(readFileSync(join(index, name), 'latin1')).not.toContain(SECRET)
})

/** The versions of another, empty workspace of the same data folder. */
async function emptyTree(): Promise<string> {
  const empty = freshFolders()
  try {
    return await (await openWorkspace(empty.ws, { dataFolder: folders.data })).versions.snapshot()
  } finally {
    empty.remove()
  }
}

it('a failed input rejects with its own error, and leaves no report behind', async () => {
  folders = freshFolders()
  await opened()
  const repository = join(folders.data, 'versions.git')
  const place = { program: '/usr/bin/git', repository, index: join(folders.data, 'index'), workTree: folders.ws }
  const failing = async function* () {
    yield Buffer.from('one')
    throw new Error('the disk is on fire')
  }
  await expect(storeBlobs(place, failing())).rejects.toThrow('the disk is on fire')
  expect(readdirSync(repository).filter((name) => name.startsWith('fast_import_crash'))).toEqual([])
})
