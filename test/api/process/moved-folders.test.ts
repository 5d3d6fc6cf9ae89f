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
  ['rename', 'ENOENT', 'FILES_CHANGED'],
  ['open', 'ENOTDIR', 'FILES_CHANGED'],
  ['rmdir', 'ENOTEMPTY', 'FILES_CHANGED'],
  ['spawn git', 'ENOENT', 'ENOENT'],
  ['write', 'ENOSPC', 'ENOSPC'],
  [undefined, 'CONFLICT', 'CONFLICT'],
])('an error of %s with %s during a restore is %s', (syscall, code, shown) => {
  const error = Object.assign(new Error('it failed'), { syscall, code })
  expect(() => throwRestoreError(error)).toThrow(expect.objectContaining({ code: shown }))
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
      /moved or replaced folders .* \(RESOURCE_NOT_FOUND\).*; end that process, then restore again/,
    ),
  })
})
