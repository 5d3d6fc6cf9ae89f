// @module-tag git
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { createSandbox } from '../../../adapters/sandbox/bubblewrap.ts'
import { backupLog } from '../../../adapters/sqlite/log/backup.ts'
import { SqliteLog } from '../../../adapters/sqlite/log/log.ts'
import { systemKeys } from '../../../adapters/vault/keys.ts'
import { openEmbedded } from '../../../api/process/embedded/open-embedded.ts'
import { hiddenFrom, refuseSecretsIn } from '../../../api/process/files/hidden-paths.ts'
import { openFolder } from '../../support/programs/bubblewrap.ts'
import { bodyOf, openWorld } from '../support/http.ts'

// A backup holds the vault: agents must not get at it.

let world: Awaited<ReturnType<typeof openWorld>>
const open = openFolder()
beforeAll(async () => {
  world = await openWorld()
})
afterEach(() => vi.restoreAllMocks())
afterAll(async () => {
  await world.close()
  rmSync(open, { recursive: true, force: true })
})

const backup = async (folder: string) => {
  const answer = await world.ask('POST', '/v1/backup', { body: { folder } })
  return { status: answer.status, ...(await bodyOf(answer)) }
}

it('commands see no backup, no other data folder and no configuration', { tags: ['bubblewrap'] }, async () => {
  expect(await backup(join(open, 'far/saved'))).toMatchObject({ status: 200 })
  mkdirSync(join(open, 'others/data/vault'), { recursive: true })
  writeFileSync(join(open, 'others/data/vault.check'), 'x')
  writeFileSync(join(open, 'others/data/vault/secret'), 'their secret')
  writeFileSync(join(open, 'others/seen'), 'seen')
  mkdirSync(join(open, 'others/ws'))
  writeFileSync(join(world.data, 'keepup.json'), '{}')
  const file = join(open, 'settings.json')
  writeFileSync(file, 'settings with a password')
  const workspace = join(open, 'others/ws')
  const vaultKeyFile = join(open, 'others/vault.key')
  writeFileSync(vaultKeyFile, 'the key of the vault')
  const hide = await hiddenFrom({ data: world.data, file, vaultKeyFile }, workspace)
  const box = await createSandbox({ workspace, hide: [...hide, join(world.data, 'keepup.json')], readable: [open] })
  const { data: key } = JSON.parse(readFileSync(join(open, 'far/saved/vault/reference.key'), 'utf8'))
  const script = `cat ../seen ../data/vault/secret ${open}/far/saved/vault/* ${file} ../vault.key; grep -rs -e ${key} -e 'key of the' -e password -e 'their secret' ${open}`
  const command = { argv: ['/bin/sh', '-c', script], cwd: '.', timeoutMs: 10_000, network: false }
  expect((await box.exec(command, new AbortController().signal)).stdout).toBe('seen')
})

it('a backup into a folder that agents work in is refused, and nothing is made', async () => {
  const workspace = world.workspace()
  await world.driven('finish it', { workspace })
  const answer = await backup(join(workspace, 'deep/down'))
  expect(answer).toMatchObject({ status: 409, code: 'FOLDER_IN_WORKSPACE' })
  expect(existsSync(join(workspace, 'deep'))).toBe(false)
})

it('no run starts, and none goes on, in a folder that holds a backup', async () => {
  const workspace = world.workspace()
  const id = await world.driven('ask me', { workspace })
  const saved = join(world.root, 'project', 'saved')
  expect(await backup(saved)).toMatchObject({ status: 200 })
  const refused = { code: 'WORKSPACE_HOLDS_DATA', message: expect.stringContaining(`the backup ${saved} lies inside`) }
  const body = { task: 'finish', model: world.model, workspace: join(world.root, 'project') }
  const answer = await world.ask('POST', '/v1/runs', { body })
  expect([answer.status, (await bodyOf(answer)).code]).toEqual([422, refused.code])
  const inside = join(workspace, 'saved')
  renameSync(saved, inside)
  // As it was written down there; and half a line, of a process that died.
  writeFileSync(join(world.data, 'backups.jsonl'), `\n${JSON.stringify(inside)}\n"half`)
  await world.ask('POST', `/v1/runs/${id}/input`, { body: { text: 'this one' } })
  world.services.drivers.start(id)
  await world.services.drivers.ended(id)
  expect(world.services.drivers.state(id).end).toMatchObject({ end: 'fault', code: refused.code })
})

const opened = (data: string, mode: 'owner' | 'reader' = 'owner') =>
  openEmbedded({ ...world.config, data }, mode, false)

it('half a backup, of a process that was killed, does not open', async () => {
  const whole = join(world.root, 'whole')
  expect(await backup(whole)).toMatchObject({
    status: 200,
    files: expect.arrayContaining(['log/log.db', 'vault.check']),
  })
  expect(readdirSync(whole)).not.toContain('log.partial')
  await (await opened(whole))?.close()
  const half = join(world.root, 'half')
  let copied: readonly string[] = []
  vi.spyOn(SqliteLog.prototype, 'backup').mockImplementationOnce(async function (this: SqliteLog, to) {
    const cursor = await backupLog(join(world.data, 'log'), to, this.logId)
    copied = readdirSync(half)
    throw Object.assign(new Error('killed'), { cursor })
  })
  expect(await backup(half)).toMatchObject({ status: 500 })
  expect(copied).toEqual(['log.partial', 'tree.db'])
  for (const mode of ['owner', 'reader'] as const)
    await expect(opened(half, mode)).rejects.toMatchObject({
      code: 'DATA_FOLDER_UNUSABLE',
      message: expect.stringContaining('half a backup'),
    })
  expect(readdirSync(half)).toEqual(['log.partial', 'tree.db'])
})

it('a vault that was left out of a copy is told, and nothing of a first start', async () => {
  const told = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  const texts = () => told.mock.calls.map(([text]) => String(text)).join('')
  await (await opened(join(world.root, 'first')))?.close()
  const copy = join(world.root, 'copy')
  cpSync(join(world.root, 'whole/log'), join(copy, 'log'), { recursive: true })
  // A start that failed has made the folder.
  mkdirSync(join(copy, 'vault'), { mode: 0o700 })
  expect(texts()).toBe('')
  await (await opened(copy))?.close()
  expect(texts()).toMatch(/no vault in .*copy.*is lost.*put back the folder "vault"/)
})

it('a backup holds no key of the vault: without it the copy does not open, and says why', async () => {
  const folder = join(world.root, 'without-key')
  expect(await backup(folder)).toMatchObject({ status: 200 })
  const key = readFileSync(systemKeys().file, 'utf8').split('\n')[0]!
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const text = files.map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1')).join('\n')
  expect([text.includes('"key":"'), text.includes(key)]).toEqual([true, false])
  const vaultKeyFile = join(world.root, 'elsewhere.key')
  const opening = openEmbedded({ ...world.config, data: folder, vaultKeyFile }, 'owner', false)
  await expect(opening).rejects.toMatchObject({
    code: 'VAULT_KEY',
    message: expect.stringContaining('put the key back'),
  })
  expect(existsSync(vaultKeyFile)).toBe(false)
})

it("no run starts in a folder that holds the vault's key", async () => {
  const workspace = world.workspace()
  const vaultKeyFile = join(workspace, 'vault.key')
  await refuseSecretsIn(workspace, { data: world.data, vaultKeyFile })
  writeFileSync(vaultKeyFile, 'a key')
  const refused = { code: 'WORKSPACE_HOLDS_DATA', message: expect.stringContaining("the vault's key") }
  await expect(refuseSecretsIn(workspace, { data: world.data, vaultKeyFile })).rejects.toMatchObject(refused)
})
