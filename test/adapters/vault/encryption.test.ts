import { randomBytes } from 'node:crypto'
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { rotateKey } from '../../../adapters/vault/encrypt.ts'
import { checkVault, openVault } from '../../../adapters/vault/file-vault.ts'
import type { KeySource } from '../../../adapters/vault/keys.ts'
import { vaultMark } from '../../../adapters/vault/mark.ts'
import { vaultFolder } from '../../../adapters/vault/vault-files.ts'
import { createRedactor, reference } from '../../../domain/secrets/redactor.ts'
import { freshFolders } from '../../support/folders.ts'

let at: ReturnType<typeof freshFolders>
let keys: KeySource
const file = (name: string) => join(vaultFolder(at.data), name)
const open = (env: NodeJS.ProcessEnv = {}, more: object = {}) => openVault({ dataFolder: at.data, env, keys, ...more })
const newKey = () => randomBytes(32).toString('hex')
const inEnvironment = (...texts: string[]): KeySource => ({ text: texts.join(','), file: '/none' })

beforeEach(() => {
  at = freshFolders()
  keys = { text: null, file: join(at.base, 'config/keepup/vault.key') }
})
afterEach(() => at.remove())

/** All that the data folder holds, as text. */
const written = (): string =>
  readdirSync(at.data, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n')

const REF = reference(new Uint8Array(32), 'any')

describe('the vault', () => {
  it('holds no value in plain text: neither named, retired and referenced ones nor the reference key', async () => {
    const vault = await open()
    await vault.set('A', 'value-one')
    await vault.set('A', 'value-two')
    await vault.remember(new Map([[REF, 'value-three']]))
    const referenceKey = Buffer.from(await vault.referenceKey())
    for (const text of [
      'value-one',
      'value-two',
      'value-three',
      referenceKey.toString('hex'),
      referenceKey.toString('base64'),
    ])
      expect(written()).not.toContain(text)
    expect(written()).not.toContain(readFileSync(keys.file, 'utf8').trim())
    expect(statSync(keys.file).mode & 0o777).toBe(0o600)
    const next = await open()
    expect([await next.get('A'), await next.retired(), next.resolve(REF)]).toEqual([
      'value-two',
      [{ name: 'A', value: 'value-one' }],
      'value-three',
    ])
    expect(Buffer.from(await next.referenceKey())).toEqual(referenceKey)
  })

  it('encrypts equal values under a nonce of their own, and opens no record in the place of another', async () => {
    const vault = await open()
    await vault.set('A', 'value-one')
    await vault.set('B', 'value-one')
    const secrets = JSON.parse(readFileSync(file('secrets.json'), 'utf8'))
    expect(new Set([secrets.A.nonce, secrets.B.nonce, secrets.A.data, secrets.B.data]).size).toBe(4)
    writeFileSync(file('secrets.json'), JSON.stringify({ A: secrets.B }))
    await expect(vault.get('A')).rejects.toMatchObject({ code: 'VAULT_CORRUPT' })
    const data = Buffer.from(secrets.A.data, 'base64')
    data[0]! ^= 1
    writeFileSync(file('secrets.json'), JSON.stringify({ A: { ...secrets.A, data: data.toString('base64') } }))
    await expect(vault.get('A')).rejects.toMatchObject({ code: 'VAULT_CORRUPT' })
    writeFileSync(file('secrets.json'), JSON.stringify({ A: 'planted-value' }))
    await expect(vault.get('A')).rejects.toMatchObject({ code: 'VAULT_CORRUPT' })
  })

  it('refers by name to the values of variables in any form, and resolves them while the variables hold them', async () => {
    const env = { TOKEN: 'token-of-env', OTHER: ' a-long-other-token \n', SHORT: 'root' }
    const vault = await open(env, { secretNames: ['TOKEN'] })
    const key = await vault.referenceKey()
    const redactor = createRedactor({ key, known: ['token-of-env', 'a-long-other-token', 'root'] })
    const text = `token-of-env ${btoa('token-of-env')} a-long-other-token root`
    const { value, references } = redactor.redactText(text)
    expect(references.size).toBe(4)
    await vault.remember(references)
    const lines = readFileSync(file('references.jsonl'), 'utf8')
    expect(lines.match(/"name":"(TOKEN|OTHER)"/g)).toHaveLength(3)
    const all = (from: typeof vault) => [...references.keys()].map(from.resolve)
    expect(all(await open(env))).toEqual([...references.values()])
    // SHORT may be a word of any text: it is stored, because no run has asked for it as a secret.
    const rotated = await open({ TOKEN: 'another-token', OTHER: env.OTHER })
    expect(all(rotated)).toEqual([null, null, 'a-long-other-token', 'root'])
    expect(await rotated.held()).toEqual(['TOKEN', 'OTHER'])
    expect(value).not.toContain('token')
  })

  it('keeps longer texts without the values of variables in them, and gives them whole or not at all', async () => {
    const env = { TOKEN: 'token-of-env' }
    const vault = await open(env)
    await vault.get('TOKEN')
    const whole = `postgres://user:token-of-env@host/${Buffer.from('token-of-env').toString('hex')}`
    await vault.remember(new Map([[REF, whole]]))
    expect((await open(env)).resolve(REF)).toBe(whole)
    expect((await open({})).resolve(REF)).toBe(null)
    expect((await open({ TOKEN: 'another-token' })).resolve(REF)).toBe(null)
  })

  it('refers by name to values of the settings, and to its own key', async () => {
    const password = 'pass-of-a-server'
    const vault = await open({}, { settings: [password] })
    const own = readFileSync(keys.file, 'utf8').trim()
    const key = await vault.referenceKey()
    const made = new Map([password, own].map((text) => [reference(key, text), text]))
    await vault.remember(made)
    expect(readFileSync(file('references.jsonl'), 'utf8').match(/"name":"settings"/g)).toHaveLength(2)
    expect([...made.keys()].map(vault.resolve)).toEqual([password, own])
    expect(await vault.held()).toEqual([])
  })
})

describe("the vault's key", () => {
  it('is the one of the environment where it is given', async () => {
    const key = newKey()
    keys = inEnvironment(key)
    await (await open()).set('A', 'value-one')
    expect(await (await open()).get('A')).toBe('value-one')
    expect(existsSync(join(at.base, 'config'))).toBe(false)
    expect(written()).not.toContain(key)
  })

  it.each([
    ['is missing', () => rmSync(keys.file)],
    ['is another one', () => writeFileSync(keys.file, `${newKey()}\n`)],
  ])('says what to do where it %s: a backup does not hold it', async (_, lose) => {
    await (await open()).set('A', 'value-one')
    cpSync(at.data, join(at.base, 'backup'), { recursive: true })
    lose()
    for (const dataFolder of [at.data, join(at.base, 'backup')]) {
      const fault = {
        code: 'VAULT_KEY',
        message: expect.stringMatching(
          /it needs key [0-9a-f]{16}.*put the key back.*backup.*does not hold it.*lost for good/,
        ),
      }
      await expect(openVault({ dataFolder, env: {}, keys })).rejects.toMatchObject(fault)
      await expect(checkVault(dataFolder, keys)).rejects.toMatchObject(fault)
    }
    // As the message says.
    rmSync(vaultFolder(at.data), { recursive: true })
    rmSync(vaultMark(at.data))
    expect(await (await open()).get('A')).toBe(null)
  })

  it.each([['no key'], ['ab'.repeat(31)], ['']])(
    'is 64 hex digits, and is not quoted where it is not: %j',
    async (text) => {
      mkdirSync(join(at.base, 'config/keepup'), { recursive: true })
      writeFileSync(keys.file, `${text}\n`, { mode: 0o600 })
      const error: Error = await open().catch((e) => e)
      expect(error).toMatchObject({ code: 'VAULT_KEY', message: expect.stringMatching(/openssl rand -hex 32/) })
      if (text !== '') expect(error.message).not.toContain(text)
    },
  )

  it('is for this user alone, and not in the data folder', async () => {
    await open()
    chmodSync(keys.file, 0o644)
    await expect(open()).rejects.toMatchObject({ code: 'VAULT_EXPOSED' })
    const other = freshFolders()
    keys = { text: null, file: join(other.data, 'config/vault.key') }
    await expect(openVault({ dataFolder: other.data, env: {}, keys })).rejects.toThrow(
      /must not lie in the data folder/,
    )
    other.remove()
  })
})

describe('a rotation of the key', () => {
  const filled = async () => {
    const vault = await open({ TOKEN: 'token-of-env' })
    await vault.set('A', 'value-zero')
    await vault.set('A', 'value-one')
    await vault.get('TOKEN')
    await vault.remember(new Map([[REF, 'value-two']]))
    await vault.remember(new Map([[reference(await vault.referenceKey(), 'token-of-env'), 'token-of-env']]))
    return vault
  }
  const all = async () => {
    const vault = await open({ TOKEN: 'token-of-env' })
    const token = vault.resolve(reference(await vault.referenceKey(), 'token-of-env'))
    return [await vault.get('A'), await vault.retired(), vault.resolve(REF), token]
  }
  const expected = ['value-one', [{ name: 'A', value: 'value-zero' }], 'value-two', 'token-of-env']
  const former = () => readFileSync(keys.file, 'utf8').trim().split('\n')

  it('encrypts all anew, and keeps the references; the new key alone opens it', async () => {
    const before = Buffer.from(await (await filled()).referenceKey())
    const id = await rotateKey(at.data, keys)
    expect(former()).toHaveLength(2)
    expect(written()).toContain(id)
    writeFileSync(keys.file, `${former()[0]}\n`)
    expect(await all()).toEqual(expected)
    expect(Buffer.from(await (await open()).referenceKey())).toEqual(before)
  })

  it('is seen by a vault that is open, which goes on under the new key', async () => {
    const vault = await filled()
    await rotateKey(at.data, keys)
    expect([await vault.get('A'), vault.resolve(REF)]).toEqual(['value-one', 'value-two'])
    const other = reference(new Uint8Array(32), 'other')
    await vault.remember(new Map([[other, 'value-three']]))
    await vault.set('B', 'value-four')
    writeFileSync(keys.file, `${former()[0]}\n`)
    const next = await open()
    expect([next.resolve(other), await next.get('B'), vault.resolve(other)]).toEqual([
      'value-three',
      'value-four',
      'value-three',
    ])
    expect(await all()).toEqual(expected)
  })

  it('loses nothing where it is interrupted, and is ended when it is called again', async () => {
    await filled()
    const names = ['reference.key', 'secrets.json', 'retired.json', 'references.jsonl']
    const old = new Map(names.map((name) => [name, readFileSync(file(name))]))
    await rotateKey(at.data, keys)
    const id = JSON.parse(readFileSync(file('reference.key'), 'utf8')).key
    // The files of a process that died after this number of files.
    for (let done = 0; done < names.length; done++) {
      for (const name of names.slice(done)) writeFileSync(file(name), old.get(name)!, { mode: 0o600 })
      expect(await all()).toEqual(expected)
      await checkVault(at.data, keys)
      expect(await rotateKey(at.data, keys)).toBe(id)
      expect(former()).toHaveLength(2)
      writeFileSync(`${keys.file}.new`, `${former()[0]}\n`, { mode: 0o600 })
      await checkVault(at.data, { text: null, file: `${keys.file}.new` })
    }
    expect(await rotateKey(at.data, keys)).not.toBe(id)
  })

  it('takes the new key from the environment where the old one is there', async () => {
    const [old, next] = [newKey(), newKey()]
    keys = inEnvironment(old)
    await filled()
    await expect(rotateKey(at.data, keys)).rejects.toThrow(/set it to NEW,OLD/)
    await rotateKey(at.data, inEnvironment(next, old))
    keys = inEnvironment(next)
    expect(await all()).toEqual(expected)
  })

  it('needs a vault, and ignores the half line of a process that died', async () => {
    await expect(rotateKey(at.data, keys)).rejects.toMatchObject({ code: 'VAULT_MISSING' })
    expect([readdirSync(at.data), existsSync(keys.file)]).toEqual([[], false])
    await filled()
    appendFileSync(file('references.jsonl'), '\n["secret:ku_b",{"key":"1')
    await rotateKey(at.data, keys)
    expect(await all()).toEqual(expected)
  })
})
