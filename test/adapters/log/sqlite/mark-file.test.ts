import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { markOf, readMark } from '../../../../adapters/sqlite/log/mark.ts'
import { openSqliteLog } from '../../../../adapters/sqlite/log/open.ts'
import { tempFolder } from '../../../support/folders.ts'
import { NEW, Sealer } from '../../../support/log/sealing.ts'
import { owner } from '../../../support/log/sqlite-log.ts'

async function written(): Promise<string> {
  const log = await owner()
  await log.append('agent-a1', -1, new Sealer().batch('agent-a1', NEW, [{}]))
  await log.close()
  return log.folder
}

const precious = () => {
  const path = join(tempFolder(), 'precious')
  writeFileSync(path, 'keep me')
  return path
}

test.each([
  ['a FIFO', (path: string) => execFileSync('mkfifo', [path]), 'no regular file'],
  ['a folder', (path: string) => mkdirSync(path), 'no regular file'],
  ['a symbolic link', (path: string) => symlinkSync(precious(), path), 'symbolic link'],
  ['a larger file', (path: string) => writeFileSync(path, 'x'.repeat(300)), '300 bytes'],
])('%s in the place of the mark is named and left alone, and the log goes on', async (_, put, why) => {
  const folder = await written()
  rmSync(markOf(folder))
  put(markOf(folder))
  const found = readMark(folder)
  expect(found).toMatchObject({ state: 'unreadable', foreign: true, why: expect.stringContaining(why) })
  const told: string[] = []
  const log = await openSqliteLog({ folder, mode: 'owner', warn: (text) => told.push(text) })
  expect(log.end).toMatchObject({ state: 'unreadable', foreign: true })
  await log.append('agent-b1', -1, new Sealer().batch('agent-b1', NEW, [{}]))
  await log.close()
  expect(told).toEqual([expect.stringMatching(/log\.mark.*move it away/)])
  expect(readMark(folder)).toEqual(found)
})

test('the target of a symbolic link is not overwritten', async () => {
  const folder = await written()
  const path = precious()
  rmSync(markOf(folder))
  symlinkSync(path, markOf(folder))
  await (await owner(folder)).close()
  expect(readFileSync(path, 'utf8')).toBe('keep me')
})

test('the mark of another log is named as that, and the log waits for the right one', async () => {
  const [folder, other] = [await written(), await written()]
  const right = readFileSync(markOf(folder))
  writeFileSync(markOf(folder), readFileSync(markOf(other)))
  await expect(owner(folder)).rejects.toMatchObject({
    code: 'LOG_FOREIGN',
    message: expect.stringMatching(/log\.mark is of another log.*put back.*or delete it/),
  })
  const reader = await openSqliteLog({ folder, mode: 'reader' })
  expect(reader.end).toMatchObject({ state: 'foreign' })
  await reader.close()
  writeFileSync(markOf(folder), right)
  expect((await owner(folder)).end.state).toBe('whole')
})
