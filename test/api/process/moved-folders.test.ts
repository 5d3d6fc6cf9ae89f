// @module-tag git
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openWorkspace } from '../../../adapters/workspace/open.ts'
import type { FileSources } from '../../../api/process/files/file-sources.ts'
import { throwRestoreError } from '../../../api/process/files/restore-error.ts'
import { workspaceFilesOf } from '../../../api/process/files/workspace-files.ts'
import { Policy } from '../../../domain/calls/policy-schema.ts'
import { freshFolders } from '../../support/folders.ts'

test.each([
  ['rename', 'ENOENT', '/ws/a', 'FILES_CHANGED'],
  ['open', 'ENOTDIR', '/ws', 'FILES_CHANGED'],
  ['rmdir', 'ENOTEMPTY', '/proc/self/fd/9/a', 'FILES_CHANGED'],
  ['open', 'ENOENT', '/data/versions.git/HEAD', 'ENOENT'],
  ['spawn git', 'ENOENT', 'git', 'ENOENT'],
  ['write', 'ENOSPC', '/ws/a', 'ENOSPC'],
  [undefined, 'CONFLICT', undefined, 'CONFLICT'],
])('an error of %s with %s of %s during a restore is %s', (syscall, code, path, shown) => {
  const error = Object.assign(new Error('it failed'), { syscall, code, path })
  expect(() => throwRestoreError(error, '/ws', true)).toThrow(expect.objectContaining({ code: shown }))
})

test.each([
  [false, 'nothing was changed'],
  [true, 'files may be half put back'],
])('an error of a restore that has begun (%s) says: %s', (begun, said) => {
  const error = Object.assign(new Error('it failed'), { syscall: 'open', code: 'ENOENT', path: '/ws/a' })
  expect(() => throwRestoreError(error, '/ws', begun)).toThrow(`(ENOENT: /ws/a), so ${said};`)
})

test('a restore ends with FILES_CHANGED if the workspace is moved away meanwhile', async () => {
  const { base, ws, data, remove } = freshFolders()
  onTestFinished(remove)
  mkdirSync(join(ws, 'a'))
  writeFileSync(join(ws, 'a/f'), 'first')
  const { versions } = await openWorkspace(ws, { dataFolder: data })
  const tree = await versions.snapshot()
  rmSync(join(ws, 'a'), { recursive: true })
  const spec = { secrets: [], policy: Policy.parse({}), workspace: { path: ws } }
  const files = workspaceFilesOf({
    dataFolder: data,
    boundary: async () => ({ versions: undefined }),
    agentFilesAt: async () => null,
    filesAt: async () => ({ state: { spec }, tree }),
  } as unknown as FileSources)
  const begins = async () => renameSync(ws, join(base, 'away'))
  await expect(files.restore('r1', { to: { step: 1 }, dryRun: false, begins } as never)).rejects.toMatchObject({
    code: 'FILES_CHANGED',
    message: expect.stringMatching(
      /moved or replaced folders .* \(RESOURCE_NOT_FOUND: .*half put back; end that process, then restore again/,
    ),
  })
})
