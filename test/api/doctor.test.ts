import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { openSqliteLog } from '../../adapters/log-sqlite/open.ts'
import { openVault } from '../../adapters/vault/file-vault.ts'
import { checkDisk, checkGuards, vaultFault } from '../../api/cli/doctor.ts'
import { tempFolder } from '../support/folders.ts'

it.skipIf(process.platform !== 'linux')(
  'looks at the disk of each folder, and names the one without room',
  async () => {
    const folder = tempFolder()
    expect(await checkDisk([folder, join(folder, 'log')])).toMatchObject({ found: expect.stringMatching(/ GiB free$/) })
    // A file system of its own, which has no room at all.
    expect(await checkDisk([folder, '/proc/self', folder])).toMatchObject({
      state: 'warning',
      found: '0.0 GiB free in /proc/self',
    })
  },
)

it('tells of a vault that was here and is gone, and how it comes back, and makes nothing', async () => {
  const folder = tempFolder()
  expect(await vaultFault(folder)).toEqual([])
  await openVault({ dataFolder: folder, env: {} })
  expect(await vaultFault(folder)).toEqual([])
  renameSync(join(folder, 'vault'), join(folder, 'elsewhere'))
  const [found, todo] = ['is gone or empty', 'restore the folder "vault"'].map((part) => expect.stringContaining(part))
  expect(await vaultFault(folder)).toEqual([{ check: 'vault', state: 'broken', found, todo }])
  renameSync(join(folder, 'elsewhere'), join(folder, 'vault'))
  expect(await vaultFault(folder)).toEqual([])
})

it("tells which of the log's guards are not as they were made", async () => {
  const folder = join(tempFolder(), 'log')
  expect(checkGuards(folder)).toEqual([])
  await (await openSqliteLog({ folder, mode: 'owner' })).close()
  expect(checkGuards(folder)).toEqual([])
  const db = new DatabaseSync(join(folder, 'log.db'))
  db.exec('drop trigger events_no_update; drop trigger bodies_no_delete')
  db.exec('create trigger bodies_no_delete before delete on bodies begin select 1; end')
  db.exec('create trigger theirs after insert on events begin delete from usage; end')
  db.close()
  expect(checkGuards(folder)).toMatchObject([
    { check: 'log guards', state: 'broken', found: 'removed or changed: bodies_no_delete, events_no_update, theirs' },
  ])
})
