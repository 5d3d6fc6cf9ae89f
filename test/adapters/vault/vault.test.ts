import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  cpSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { rotateKey } from '../../../adapters/vault/encrypt.ts'
import { checkVault, openVault } from '../../../adapters/vault/file-vault.ts'
import { KeyRing } from '../../../adapters/vault/key-ring.ts'
import { systemKeys } from '../../../adapters/vault/keys.ts'
import { vaultMark } from '../../../adapters/vault/mark.ts'
import { vaultFolder } from '../../../adapters/vault/vault-files.ts'
import type { Vault } from '../../../domain/ports/index.ts'
import { createRedactor, reference } from '../../../domain/secrets/redactor.ts'
import { freshFolders } from '../../support/folders.ts'
import { turnsDuring } from '../../support/time/event-loop.ts'

let folders: ReturnType<typeof freshFolders>
const open = (env: NodeJS.ProcessEnv = {}) => openVault({ dataFolder: folders.data, env })
const file = (name: string) => join(vaultFolder(folders.data), name)

beforeEach(() => {
  folders = freshFolders()
})
afterEach(() => folders.remove())

describe('the vault', () => {
  it('keeps named secrets across restarts; the environment comes first', async () => {
    const vault = await open()
    await Promise.all([vault.set('B', 'value-b'), vault.set('A', 'value-a'), vault.set('C', 'value-c')])
    expect(await (await open()).names()).toEqual(['A', 'B', 'C'])
    expect(await (await open()).get('A')).toBe('value-a')
    expect(await (await open({ A: 'from-env', B: ' ' })).get('A')).toBe('from-env')
    expect(await (await open({ A: 'from-env', B: ' ' })).get('B')).toBe('value-b')
    expect(await vault.get('NONE')).toBe(null)
    expect(await vault.get('constructor')).toBe(null)
  })

  it('keeps the last values that were replaced or removed, and takes no inherited name for a secret', async () => {
    const vault = await open()
    expect(await vault.get('constructor')).toBe(null)
    await vault.set('A', 'first-value')
    await vault.set('A', 'first-value')
    expect(await vault.retired()).toEqual([])
    await vault.set('A', 'second-value')
    await vault.remove('A')
    expect(await (await open()).retired()).toEqual([
      { name: 'A', value: 'first-value' },
      { name: 'A', value: 'second-value' },
    ])
    for (let n = 0; n < 101; n++) await vault.set('B', `value-${n}`)
    const kept = await vault.retired()
    expect([kept.length, kept[0]!.value, kept.at(-1)!.value]).toEqual([100, 'value-0', 'value-99'])
    expect(statSync(file('retired.json')).mode & 0o777).toBe(0o600)
    // Earlier versions stored no names.
    writeFileSync(file('retired.json'), readFileSync(file('retired.json'), 'utf8').replace(/"([01]) B"/g, '"$1"'))
    await vault.remove('B')
    expect((await vault.retired()).slice(0, 2)).toEqual([
      { name: null, value: 'value-1' },
      { name: 'B', value: 'value-2' },
    ])
  })

  it('has one key per install, also when two processes start at once', async () => {
    const keys = await Promise.all([open(), open(), open()].map(async (vault) => (await vault).referenceKey()))
    expect(new Set(keys.map((key) => Buffer.from(key).toString('hex'))).size).toBe(1)
    expect(keys[0]).toHaveLength(32)
  })

  it('is readable by its owner only, and refuses a file that other users could read', async () => {
    const vault = await open()
    await vault.set('A', 'value-a')
    await vault.remember(new Map([['secret:ku_x', 'y']]))
    const names = readdirSync(vaultFolder(folders.data)).sort()
    expect(names).toEqual(['reference.key', 'references.jsonl', 'secrets.json'])
    for (const name of names) expect(statSync(file(name)).mode & 0o777).toBe(0o600)
    expect(statSync(vaultFolder(folders.data)).mode & 0o777).toBe(0o700)
    for (const name of names) {
      chmodSync(file(name), 0o640)
      await expect(open()).rejects.toThrow(/mode is 640.*chmod 600/)
      chmodSync(file(name), 0o600)
    }
    chmodSync(file('secrets.json'), 0o604)
    await expect(vault.get('A')).rejects.toMatchObject({ code: 'VAULT_EXPOSED' })
  })

  it('refuses names and values that it cannot keep, and says so of a broken file without quoting it', async () => {
    const vault = await open()
    await expect(vault.set('a b', 'value')).rejects.toMatchObject({ code: 'SECRET_INVALID' })
    await expect(vault.set('A', 'abc')).rejects.toThrow(/shorter than 4/)
    await expect(vault.set('A', 'cret')).rejects.toThrow(/what stands in its place/)
    writeFileSync(file('secrets.json'), '{"A": "hunter2', { mode: 0o600 })
    const error = await open().catch((e: Error) => e)
    expect(error).toMatchObject({ code: 'VAULT_CORRUPT' })
    expect(String(error) + String((error as Error).cause)).not.toContain('hunter2')
    for (const text of ['["hunter2-long"]', '{"A":5,"B":null}', '"hunter2-long"', '{"A":["hunter2-long"]}']) {
      writeFileSync(file('secrets.json'), text)
      await expect(open()).rejects.toMatchObject({
        code: 'VAULT_CORRUPT',
        message: expect.not.stringContaining('hunter2'),
      })
    }
  })

  it('forgets a secret, and keeps the values of its references', async () => {
    const vault = await open()
    await vault.set('A', 'value-a')
    await vault.set('B', 'value-b')
    await vault.remember(new Map([['secret:ku_a', 'value-a']]))
    expect([await vault.remove('A'), await vault.remove('A'), await vault.remove('constructor')]).toEqual([
      ...[true, false, false],
    ])
    const next = await open()
    expect([await next.names(), await next.get('A'), next.resolve('secret:ku_a')]).toEqual([['B'], null, 'value-a'])
  })

  it('resolves references of a redactor, after a restart and from another process', async () => {
    const vault = await open()
    const other = await open()
    const key = await vault.referenceKey()
    const { references } = createRedactor({ key, known: ['pass word\n"1"'] }).redactText('x pass word\n"1" y')
    expect(references.size).toBe(1)
    await vault.remember(references)
    const before = readFileSync(file('references.jsonl'))
    await vault.remember(references)
    await other.remember(references)
    expect(readFileSync(file('references.jsonl')).equals(before)).toBe(true)
    const ref = reference(key, 'pass word\n"1"')
    expect([vault.resolve(ref), other.resolve(ref), (await open()).resolve(ref)]).toEqual(
      Array(3).fill('pass word\n"1"'),
    )
    expect(vault.resolve(reference(key, 'other'))).toBe(null)
  })

  it('keeps very many references with one look at its key, in parts, and others are served between them', async () => {
    const vault = await open()
    const key = await vault.referenceKey()
    const texts = Array.from({ length: 5_000 }, (_, n) => `token-${n}`)
    const made = new Map(texts.map((text) => [reference(key, text), text]))
    const looks = vi.spyOn(KeyRing.prototype, 'referenceKey')
    onTestFinished(() => looks.mockRestore())
    const turns = await turnsDuring(vault.remember(made))
    expect(looks).toHaveBeenCalledTimes(1)
    expect(turns).toBeGreaterThan(2)
    const again = await open()
    expect([...made.keys()].map(again.resolve)).toEqual(texts)
    expect(readFileSync(file('references.jsonl'), 'utf8').match(/^\[/gm)).toHaveLength(made.size)
  })

  it('keeps values that stand on their own, where they held references', async () => {
    const vault = await open()
    const key = await vault.referenceKey()
    const inner = reference(key, 'token-1')
    await vault.remember(new Map([[inner, 'token-1']]))
    const { value, references } = createRedactor({ key, known: [] }).redactJson({ authorization: `Bearer ${inner}` })
    await vault.remember(references)
    expect(vault.resolve((value as { authorization: string }).authorization)).toBe('Bearer token-1')
  })

  it('is looked at without making anything', async () => {
    await checkVault(folders.data)
    expect(readdirSync(folders.data)).toEqual([])
    await open()
    await checkVault(folders.data)
    chmodSync(file('references.jsonl'), 0o644)
    await expect(checkVault(folders.data)).rejects.toMatchObject({ code: 'VAULT_EXPOSED' })
  })

  it('survives a line that was cut off by a crash', async () => {
    const vault = await open()
    await vault.remember(new Map([['secret:ku_a', 'value-a']]))
    appendFileSync(file('references.jsonl'), '\n["secret:ku_b","val')
    const next = await open()
    await next.remember(new Map([['secret:ku_c', 'välue-c']]))
    const last = await open()
    expect(['a', 'b', 'c'].map((x) => last.resolve(`secret:ku_${x}`))).toEqual(['value-a', null, 'välue-c'])
  })

  it.each([
    ['the key is gone', () => rmSync(file('reference.key'))],
    [
      'the key is another one',
      async () => {
        const other = freshFolders()
        await openVault({ dataFolder: other.data, env: {} })
        copyFileSync(join(vaultFolder(other.data), 'reference.key'), file('reference.key'))
        other.remove()
      },
    ],
    ['the references are gone', () => rmSync(file('references.jsonl'))],
    ['the references were emptied', () => truncateSync(file('references.jsonl'), 0)],
    ['all of it is gone', () => rmSync(vaultFolder(folders.data), { recursive: true })],
  ])('is not made anew where %s, until a person says that it is lost', async (_, lose) => {
    await (await open()).remember(new Map([['secret:ku_a', 'value-a']]))
    await lose()
    const left = readdirSync(folders.data, { recursive: true })
    for (const look of [open, open, () => checkVault(folders.data)])
      await expect(look()).rejects.toMatchObject({
        code: 'VAULT_MISSING',
        message: expect.stringMatching(/restore.*delete .*vault\.check/),
      })
    // A restored vault finds its place unchanged.
    expect(readdirSync(folders.data, { recursive: true })).toEqual(left)
    rmSync(vaultMark(folders.data))
    const next = await open()
    expect(await next.referenceKey()).toHaveLength(32)
    await open()
  })

  describe('an older copy that was put back', () => {
    const copy = () => join(folders.base, 'older-vault')
    const keep = () => cpSync(vaultFolder(folders.data), copy(), { recursive: true })
    const putBack = () => cpSync(copy(), vaultFolder(folders.data), { recursive: true })
    const old = { code: 'VAULT_OLD', message: expect.stringMatching(/put back the newest copy.*delete .*vault\.check/) }

    it.each([
      ['a secret was set', (vault: Vault) => vault.set('B', 'value-b')],
      ['a secret was removed', (vault: Vault) => vault.remove('A')],
      ['a reference was added', (vault: Vault) => vault.remember(new Map([['secret:ku_b', 'value-b']]))],
    ])('is refused where since then %s', async (_, change) => {
      const vault = await open()
      await vault.set('A', 'value-a')
      await vault.remember(new Map([['secret:ku_a', 'value-a']]))
      keep()
      await change(vault)
      await checkVault(folders.data)
      putBack()
      for (const look of [open, () => checkVault(folders.data)]) await expect(look()).rejects.toMatchObject(old)
      // A process that has it open would not hide the secrets that the copy lacks.
      await expect(vault.names()).rejects.toMatchObject(old)
      await expect(vault.get('NONE')).rejects.toMatchObject(old)
      // A process that has it open refuses to change it: the change would hide that the copy is older.
      await expect(vault.set('C', 'value-c')).rejects.toMatchObject(old)
      rmSync(vaultMark(folders.data))
      // The process that has it open goes on, as a new one does.
      await vault.set('C', 'value-c')
      expect(await (await open()).get('A')).toBe('value-a')
      await checkVault(folders.data)
    })

    it('is accepted where its mark was put back with it, and after a rotation of the key', async () => {
      const vault = await open()
      await vault.set('A', 'value-a')
      await vault.remember(new Map([['secret:ku_a', 'value-a']]))
      keep()
      cpSync(vaultMark(folders.data), `${copy()}.check`)
      await rotateKey(folders.data, systemKeys())
      putBack()
      await checkVault(folders.data)
      await (await open()).set('B', 'value-b')
      putBack()
      cpSync(`${copy()}.check`, vaultMark(folders.data))
      expect(await (await open()).names()).toEqual(['A'])
    })

    it('is told from a vault whose process died between the change and its mark', async () => {
      const vault = await open()
      await vault.set('A', 'value-a')
      cpSync(vaultMark(folders.data), `${copy()}.check`)
      await vault.set('A', 'value-b')
      cpSync(`${copy()}.check`, vaultMark(folders.data))
      const next = await open()
      expect(await next.get('A')).toBe('value-b')
      await next.set('A', 'value-c')
      expect(await next.names()).toEqual(['A'])
    })
  })

  it('does not come back in part where it is removed while it is open', async () => {
    const vault = await open()
    rmSync(file('references.jsonl'))
    await expect(vault.remember(new Map([['secret:ku_a', 'value-a']]))).rejects.toThrow(/ENOENT/)
    await expect(open()).rejects.toMatchObject({ code: 'VAULT_MISSING' })
  })
})
