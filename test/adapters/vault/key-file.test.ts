import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { rotateKey } from '../../../adapters/vault/encrypt.ts'
import { checkVault, openVault } from '../../../adapters/vault/file-vault.ts'
import { vaultFolder } from '../../../adapters/vault/vault-files.ts'
import { freshFolders } from '../../support/folders.ts'

let at: ReturnType<typeof freshFolders>
let keys: { text: null; file: string }
beforeEach(() => {
  at = freshFolders()
  keys = { text: null, file: join(at.base, 'config/keepup/vault.key') }
})
afterEach(() => at.remove())

const open = (dataFolder = at.data) => openVault({ dataFolder, env: {}, keys })
const lines = (file = keys.file) => readFileSync(file, 'utf8').trim().split('\n')

describe('the key file', () => {
  it('keeps all keys where data folders that share it rotate at once', async () => {
    const folders = Array.from({ length: 4 }, (_, n) => join(at.base, `data${n}`))
    for (const folder of folders) {
      mkdirSync(folder)
      await (await open(folder)).set('A', folder)
    }
    const [first] = lines()
    await Promise.all(folders.map((folder) => rotateKey(folder, keys)))
    expect(new Set(lines()).size).toBe(lines().length)
    expect(lines().at(-1)).toBe(first)
    for (const folder of folders) {
      await checkVault(folder, keys)
      expect(await (await open(folder)).get('A')).toBe(folder)
    }
  })

  it('a link stays a link: its target is replaced, with mode 0600', async () => {
    const target = join(at.base, 'elsewhere/key')
    mkdirSync(dirname(target))
    mkdirSync(dirname(keys.file), { recursive: true })
    writeFileSync(target, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600 })
    symlinkSync(target, keys.file)
    await (await open()).set('A', 'value')
    await rotateKey(at.data, keys)
    expect([lstatSync(keys.file).isSymbolicLink(), statSync(target).mode & 0o777]).toEqual([true, 0o600])
    expect(lines(target)).toHaveLength(2)
    expect(await (await open()).get('A')).toBe('value')
  })

  it('that is a link to a missing file is refused by that name, at the first start and later', async () => {
    mkdirSync(dirname(keys.file), { recursive: true })
    const target = join(at.base, 'gone')
    symlinkSync(target, keys.file)
    const refusal = { code: 'VAULT_KEY', message: expect.stringMatching(/is a link to .*gone, which is missing/) }
    await expect(open()).rejects.toMatchObject(refusal)
    unlinkSync(keys.file)
    await open()
    unlinkSync(keys.file)
    symlinkSync(target, keys.file)
    await expect(open()).rejects.toMatchObject(refusal)
    expect(existsSync(target)).toBe(false)
  })

  it('that is a link into the data folder is refused where keepup would write it', async () => {
    await open()
    const inside = join(at.data, 'key')
    writeFileSync(inside, readFileSync(keys.file), { mode: 0o600 })
    unlinkSync(keys.file)
    symlinkSync(inside, keys.file)
    await expect(rotateKey(at.data, keys)).rejects.toThrow(/must not lie in the data folder/)
  })
})

it('removes the temporary files of a killed writer at the next start, and no other file', async () => {
  await open()
  const left = (file: string, name = 'ab'.repeat(6)) => {
    const path = `${file}.${name}.tmp`
    writeFileSync(path, 'a key', { mode: 0o600 })
    return path
  }
  const vault = (name: string) => join(vaultFolder(at.data), name)
  const ours = [keys.file, ...['reference.key', 'secrets.json', 'references.jsonl'].map(vault)].map((file) =>
    left(file),
  )
  const shared = left(keys.file, 'cd'.repeat(6))
  chmodSync(shared, 0o644)
  const others = [shared, left(keys.file, 'mine'), left(`${keys.file}.old`), left(vault('notes'))]
  await open()
  expect(ours.filter((path) => existsSync(path))).toEqual([])
  expect(others.filter((path) => !existsSync(path))).toEqual([])
  expect(readdirSync(vaultFolder(at.data)).filter((name) => name.endsWith('.tmp'))).toHaveLength(1)
})
