import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { SqliteSnapshots } from '../../adapters/sqlite/snapshots.ts'
import { SqliteHome } from '../../projections/engine/store/sqlite-home.ts'
import { tempFolder } from '../support/folders.ts'
import { owner } from '../support/log/sqlite-log.ts'

// The threat model: other users of the machine can read nothing, whatever the umask.

let umask = 0
beforeEach(() => {
  umask = process.umask(0o000)
})
afterEach(() => {
  process.umask(umask)
})

const modes = (folder: string) =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, (statSync(join(folder, name)).mode & 0o777).toString(8)]))

test('the files of a log, and of a copy of it, are for this user alone', async () => {
  const log = await owner()
  expect(modes(log.folder)).toMatchObject({ 'log.db': '600', 'log.db-wal': '600', 'lock.db': '600', 'log.mark': '600' })
  expect(new Set(Object.values(modes(log.folder)))).toEqual(new Set(['600']))
  const copy = tempFolder()
  await log.backup(copy)
  expect(new Set(Object.values(modes(copy)))).toEqual(new Set(['600']))
})

test('the files of snapshots and tables are for this user alone', async () => {
  const folder = tempFolder()
  const snapshots = SqliteSnapshots.open(join(folder, 'snapshots.db'), () => undefined)
  expect(modes(folder)).toMatchObject({ 'snapshots.db': '600', 'snapshots.db-wal': '600' })
  await snapshots.close()
  const tables = tempFolder()
  const { store } = await new SqliteHome(tables).fresh()
  expect(modes(tables)).toMatchObject({ 'tables-1.db': '600', 'tables-1.db-wal': '600' })
  await store.close()
})
