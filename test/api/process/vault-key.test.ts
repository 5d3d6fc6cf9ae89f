import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type ConfigError, loadConfig } from '../../../api/process/config/settings.ts'
import { keepup, newPlace } from '../../support/faults/cli.ts'
import { tempFolder } from '../../support/folders.ts'

test('the key is rotated from the command line, and doctor says when the key does not fit', async () => {
  const place = newPlace()
  try {
    const file = join(place.root, 'config/keepup/vault.key')
    const env = { XDG_CONFIG_HOME: join(place.root, 'config') }
    const call = (args: readonly string[], more = {}) => keepup(place, args, { env: { ...env, ...more } })
    expect(await keepup(place, ['secrets', 'set', 'A'], { env, input: 'value-one' })).toMatchObject({ code: 0 })
    const rotated = await call(['secrets', 'rotate-key', '-o', 'json'])
    expect(rotated).toMatchObject({ code: 0 })
    expect(JSON.parse(rotated.out)).toEqual({ key: expect.stringMatching(/^[0-9a-f]{16}$/), place: file })
    const [newest] = readFileSync(file, 'utf8').split('\n')
    const listed = await call(['secrets', 'list', '-o', 'json'], { KEEPUP_VAULT_KEY: newest })
    expect([listed.code, JSON.parse(listed.out)]).toMatchObject([0, [{ name: 'A' }]])
    const wrong = await call(['doctor'], { KEEPUP_VAULT_KEY: 'ab'.repeat(32) })
    expect(wrong).toMatchObject({ code: 1, out: expect.stringMatching(/vault +broken .*it needs key/) })
  } finally {
    place.remove()
  }
})

test('the key is no setting of the file, and a wrong one is not quoted', () => {
  const bad = (env: Record<string, string>, file?: string) => {
    try {
      loadConfig({ flags: {}, env, ...(file === undefined ? {} : { file }) })
      return 'taken'
    } catch (error) {
      return (error as ConfigError).message
    }
  }
  expect(bad({ KEEPUP_VAULT_KEY: 'ab'.repeat(32) })).toBe('taken')
  expect(bad({ KEEPUP_VAULT_KEY: `${'ab'.repeat(32)}, ${'CD'.repeat(32)}` })).toBe('taken')
  const file = join(tempFolder(), 'keepup.json')
  writeFileSync(file, JSON.stringify({ vaultKey: 'ab'.repeat(32) }))
  expect(bad({}, file)).toMatch(/"vaultKey" belongs to KEEPUP_VAULT_KEY/)
  const told = bad({ KEEPUP_VAULT_KEY: 'not-a-key' })
  expect(told).toMatch(/vaultKey.*64 hex digits/)
  expect(told).not.toContain('not-a-key')
})
