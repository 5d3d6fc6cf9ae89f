// @module-tag git
import { appendFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { findProgram } from '../../../adapters/processes/programs.ts'
import { openWorkspace } from '../../../adapters/workspace/open.ts'
import { freshFolders } from '../../support/folders.ts'

// Each run opens its folder anew: what an earlier one has versioned is not versioned again.

let folders: ReturnType<typeof freshFolders>
let git: string
const calls = () => join(folders.base, 'calls')

beforeEach(() => {
  folders = freshFolders()
  git = join(folders.base, 'git')
  writeFileSync(calls(), '')
  const line = `for one; do case "$one" in ls-files|update-index|write-tree) echo "$one" >> '${calls()}';; esac; done`
  writeFileSync(git, `#!/bin/sh\n${line}\nexec '${findProgram('git')}' "$@"\n`, { mode: 0o755 })
  writeFileSync(join(folders.ws, 'a'), 'one')
})
afterEach(() => folders.remove())

const open = () => openWorkspace(folders.ws, { dataFolder: folders.data, git })
const asked = () => {
  const lines = readFileSync(calls(), 'utf8').trim().split('\n')
  writeFileSync(calls(), '')
  return lines
}

test('a folder that nothing has changed is only listed, whoever opens it', async () => {
  const before = await (await open()).versions.snapshot()
  expect(asked()).toEqual(['ls-files', 'update-index', 'write-tree'])
  expect(await (await open()).versions.snapshot()).toBe(before)
  expect(asked()).toEqual(['ls-files'])
})

test('a changed folder has a version of its own', async () => {
  const before = await (await open()).versions.snapshot()
  appendFileSync(join(folders.ws, 'a'), 'two')
  const after = await (await open()).versions.snapshot()
  expect(after).not.toBe(before)
  expect(await (await open()).versions.changes(before, after)).toEqual([{ path: 'a', change: 'modified' }])
})

test('a version that the repository has lost is stored again', async () => {
  const before = await (await open()).versions.snapshot()
  rmSync(join(folders.data, 'versions.git', 'objects', before.slice(0, 2), before.slice(2)), { force: true })
  const ws = await open()
  expect(await ws.versions.snapshot()).toBe(before)
  expect(await ws.versions.read(before, 'a')).not.toBeNull()
})

test('an index that another process has written is looked into', async () => {
  const before = await (await open()).versions.snapshot()
  asked()
  const index = join(folders.data, 'versions-index')
  const [name] = readdirSync(index)
  writeFileSync(join(index, name!), readFileSync(join(index, name!)))
  expect(await (await open()).versions.snapshot()).toBe(before)
  expect(asked()).toContain('write-tree')
})
