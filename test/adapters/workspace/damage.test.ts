// @module-tag git
import { execFileSync } from 'node:child_process'
import { linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openWorkspace } from '../../../adapters/workspace/open.ts'
import type { Workspace } from '../../../domain/ports/index.ts'
import { freshFolders } from '../../support/folders.ts'

let folders: ReturnType<typeof freshFolders>
const inside = (path: string) => join(folders.ws, path)
const versions = (path = '') => join(folders.data, 'versions.git', path)
const open = (): Promise<Workspace> => openWorkspace(folders.ws, { dataFolder: folders.data })
const fifo = (path: string) => execFileSync('mkfifo', [path])
const text = (bytes: Uint8Array | null) => (bytes === null ? null : Buffer.from(bytes).toString())

beforeEach(() => {
  folders = freshFolders()
  writeFileSync(inside('a.txt'), 'a')
})
afterEach(() => {
  folders.remove()
})

describe('a repository of versions that is damaged', () => {
  const damaged = expect.objectContaining({
    name: 'WorkspaceError',
    code: 'VERSIONS_DAMAGED',
    message: expect.stringMatching(/restore that folder.*move it away/),
  })

  it.each([
    ['its HEAD is gone', () => rmSync(versions('HEAD'))],
    ['its HEAD is noise', () => writeFileSync(versions('HEAD'), '\0\0')],
    ['its config was emptied', () => writeFileSync(versions('config'), '')],
  ])('is told where %s, and another is begun once it was moved away', async (_, damage) => {
    const tree = await (await open()).versions.snapshot()
    damage()
    await expect(open()).rejects.toEqual(damaged)
    renameSync(versions(), `${versions()}.old`)
    const ws = await open()
    expect(await ws.versions.snapshot()).toBe(tree)
    expect(text(await ws.versions.read(tree, 'a.txt'))).toBe('a')
  })

  it('is reported when an operation meets it', async () => {
    const ws = await open()
    await ws.versions.snapshot()
    rmSync(versions('objects'), { recursive: true })
    writeFileSync(versions('objects'), 'no folder')
    writeFileSync(inside('b.txt'), 'b')
    await expect(ws.versions.snapshot()).rejects.toEqual(damaged)
    await expect((await open()).versions.snapshot()).rejects.toEqual(damaged)
  })

  it('that lost files stores all files of the folder again, and names the steps whose files are lost', async () => {
    writeFileSync(inside('gone.txt'), 'gone')
    const first = await (await open()).versions.snapshot()
    rmSync(inside('gone.txt'))
    for (const name of readdirSync(versions('objects'))) rmSync(versions(`objects/${name}`), { recursive: true })
    const ws = await open()
    const tree = await ws.versions.snapshot()
    expect(text(await ws.versions.read(tree, 'a.txt'))).toBe('a')
    for (const ask of [
      () => ws.versions.restore(first),
      () => ws.versions.changes(first, tree),
      () => ws.versions.read(first, 'a.txt'),
    ])
      await expect(ask()).rejects.toMatchObject({
        code: 'RESOURCE_NOT_FOUND',
        message: expect.stringContaining('files of this step are lost'),
      })
  })

  it.each([
    ["fatal: sha1 file '/data/x.lock' write error. Out of diskspace", { cause: { code: 'ENOSPC' } }],
    ["fatal: sha1 file 'x' write error: No space left on device", { cause: { code: 'ENOSPC' } }],
    ["error: unable to create temporary file '/data/o/tmp_x': Disk quota exceeded", { cause: { code: 'ENOSPC' } }],
    ["fatal: Unable to create '/data/index.lock': Read-only file system", { code: 'EXECUTION_FAILED' }],
    ["error: unable to open '/data/objects': Too many open files", { code: 'EXECUTION_FAILED' }],
    ['fatal: index file corrupt', { code: 'VERSIONS_DAMAGED' }],
  ])('is none where git has no room, or is denied something: %s', async (says, told) => {
    const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
    const git = join(folders.base, 'git')
    const fails = join(folders.base, 'fails')
    const script = `#!/bin/sh\n[ ! -e ${fails} ] || case "$*" in *update-index*) echo "${says}" >&2; exit 128;; esac\nexec ${real} "$@"\n`
    writeFileSync(git, script, { mode: 0o755 })
    const ws = await openWorkspace(folders.ws, { dataFolder: folders.data, git })
    await ws.versions.snapshot()
    writeFileSync(inside('b.txt'), 'b')
    writeFileSync(fails, '')
    await expect(ws.versions.snapshot()).rejects.toMatchObject(told)
    rmSync(fails)
    await ws.versions.snapshot()
  })

  it('two that begin it at once share it', async () => {
    const all = await Promise.all([open(), open(), open()])
    const trees = await Promise.all(all.map((ws) => ws.versions.snapshot()))
    expect(new Set(trees).size).toBe(1)
    expect(readdirSync(folders.data).sort()).toEqual(['locks', 'versions-index', 'versions.git'])
  })
})

describe('files of a workspace', () => {
  it('may be pipes in place of files that git opens: nothing hangs, and they count as empty', async () => {
    const ws = await open()
    await ws.versions.snapshot()
    fifo(inside('.gitignore'))
    fifo(inside('.gitattributes'))
    fifo(inside('other'))
    for (const name of ['s', 's/t']) {
      mkdirSync(inside(name))
      fifo(inside(`${name}/.gitignore`))
      writeFileSync(inside(`${name}/f`), name)
    }
    mkdirSync(inside('n/.git/objects'), { recursive: true })
    mkdirSync(inside('n/.git/refs'))
    fifo(inside('n/.git/HEAD'))
    writeFileSync(inside('n/g'), 'g')
    writeFileSync(inside('a.txt'), 'b')
    const tree = await ws.versions.snapshot()
    expect(text(await ws.versions.read(tree, 's/t/f'))).toBe('s/t')
    expect(text(await ws.versions.read(tree, 'n/g'))).toBe('g')
    expect(text(await ws.versions.read(tree, 'a.txt'))).toBe('b')
    const query = { pattern: 's/', regex: false, path: '.', caseSensitive: true, limit: 9 }
    expect((await ws.search(query, new AbortController().signal)).matches).toMatchObject([{ path: 's/t/f' }])
  })

  it('may be repositories in folders whose names are no text', async () => {
    const bytes = (name: string) => Buffer.from(`${folders.ws}/${name}`, 'latin1')
    for (const name of ['\xffx', '\xffx/\xfey']) {
      mkdirSync(bytes(name))
      mkdirSync(bytes(`${name}/.git`))
      for (const part of ['objects', 'refs']) mkdirSync(bytes(`${name}/.git/${part}`))
      writeFileSync(bytes(`${name}/.git/HEAD`), 'ref: refs/heads/main\n')
      writeFileSync(bytes(`${name}/f`), name, 'latin1')
    }
    const ws = await open()
    const tree = await ws.versions.snapshot()
    const copy = join(folders.base, 'copy')
    await ws.versions.materialize(tree, copy)
    for (const name of ['\xffx', '\xffx/\xfey'])
      expect(readFileSync(Buffer.from(`${copy}/${name}/f`, 'latin1'), 'latin1')).toBe(name)
  })

  it('may be a hard link to a file outside: a write does not go through it', async () => {
    const outside = join(folders.base, 'outside')
    writeFileSync(outside, 'theirs')
    linkSync(outside, inside('link'))
    const ws = await open()
    const tree = await ws.versions.snapshot()
    expect(await ws.write('link', Buffer.from('ours'))).toEqual({ created: false })
    await ws.versions.restore(tree)
    linkSync(outside, inside('second'))
    expect(readFileSync(outside, 'utf8')).toBe('theirs')
    await ws.write('second', Buffer.from('ours'))
    expect(readFileSync(outside, 'utf8')).toBe('theirs')
    expect(readFileSync(inside('second'), 'utf8')).toBe('ours')
    expect(statSync(outside).nlink).toBe(1)
  })

  it('may vanish during use, and the error says so', async () => {
    const ws = await open()
    rmSync(folders.ws, { recursive: true })
    await expect(ws.versions.snapshot()).rejects.toMatchObject({ message: expect.stringContaining('is gone') })
  })
})
