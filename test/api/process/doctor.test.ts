import { realpathSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { liesIn } from '../../../adapters/files/inside.ts'
import { findProgram } from '../../../adapters/processes/programs.ts'
import { canLimit, isExempt } from '../../../adapters/sandbox/process-limit.ts'
import { openSqliteLog } from '../../../adapters/sqlite/log/open.ts'
import { openVault } from '../../../adapters/vault/file-vault.ts'
import { checkGuards, vaultFault } from '../../../api/process/doctor/folder.ts'
import { checkDisk, checkGit, checkSandbox } from '../../../api/process/doctor/machine.ts'
import { tempFolder } from '../../support/folders.ts'

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
  const other = { text: 'ab'.repeat(32), file: '/none' }
  expect(await vaultFault(folder, other)).toMatchObject([
    { state: 'broken', found: expect.stringMatching(/cannot be decrypted with KEEPUP_VAULT_KEY: it needs key/) },
  ])
})

it('names the secrets of the vault that are not hidden, and not their values', async () => {
  const folder = tempFolder()
  const vault = await openVault({ dataFolder: folder, env: {} })
  for (const [name, value] of Object.entries({ PIN: '4711', WORD: 'password', LONG: 'tok-4f9c1e77' }))
    await vault.set(name, value)
  const findings = await vaultFault(folder)
  expect(findings).toMatchObject([
    { check: 'secrets', state: 'warning', found: expect.stringContaining('records: PIN, WORD;') },
  ])
  expect(JSON.stringify(findings)).not.toMatch(/4711|password/)
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

it('shows which programs keepup starts, and takes none that an agent can have written', { tags: ['git'] }, async () => {
  const git = findProgram('git')
  expect(await checkGit()).toMatchObject({ state: 'ok', found: expect.stringMatching(`^\\d.*, ${git}$`) })
  const folder = tempFolder()
  const impostor = join(folder, 'git')
  writeFileSync(impostor, '#!/bin/sh\necho git version 9.9\n', { mode: 0o755 })
  const search = { env: { PATH: folder }, system: [], writable: (path: string) => liesIn(realpathSync(folder), path) }
  expect(await checkGit(() => findProgram('git', search))).toMatchObject({
    state: 'broken',
    found: expect.stringContaining(`${impostor} (lies in a workspace)`),
  })
})

it('tries the sandbox, and tells where root is not limited', { tags: ['bubblewrap'] }, async () => {
  const bwrap = findProgram('bwrap')
  const found = await checkSandbox(true)
  expect(found[0]).toMatchObject({ check: 'sandbox', state: 'ok', found: `bubblewrap works, ${bwrap}` })
  expect(found.slice(1).map(({ check }) => check)).toEqual(isExempt() && !canLimit() ? ['process limit'] : [])
  expect(await checkSandbox(false)).toMatchObject([
    { state: 'warning', found: expect.stringContaining('is false') },
    ...found.slice(1),
  ])
  const missing = () => findProgram('bwrap', { env: { PATH: '' }, system: [] })
  expect(await checkSandbox(true, missing)).toMatchObject([
    { state: 'warning', found: expect.stringMatching(/^bwrap was not found/) },
  ])
})
