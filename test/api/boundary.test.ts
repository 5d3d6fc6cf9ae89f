import { expect, test } from 'vitest'
import { openVault } from '../../adapters/vault/file-vault.ts'
import { openBoundary } from '../../api/host/boundary.ts'
import { Policy } from '../../domain/agent/spec/spec.ts'
import type { Vault } from '../../domain/ports.ts'
import { freshFolders } from '../support/folders.ts'

// A value that cannot be hidden is refused where it is given to a run, and is nobody else's trouble.

const vault = (values: Record<string, string>): Vault => ({
  get: async (name) => values[name] ?? null,
  set: async () => undefined,
  remove: async () => false,
  names: async () => Object.keys(values),
  retired: async () => [],
  note: async () => undefined,
  stamp: async () => '',
  referenceKey: async () => new Uint8Array(32),
  remember: async () => undefined,
  resolve: () => null,
})
const policy = Policy.parse({})

test('a value that was replaced or removed is still hidden, one that cannot be is left alone', async () => {
  const retired = { ...vault({}), retired: async () => ['old-value', 'x'] }
  const { secrets, versions } = await openBoundary(retired, [], { secrets: [], policy })
  expect(secrets.text('an old-value, x')).toMatch(/^an secret:ku_\w{26}, x$/)
  expect(Buffer.from(versions.redactBytes(Buffer.from('old-value')).value).toString()).toMatch(/^secret:ku_/)
})

test.each(['x', 'abc', ' ab ', 'cret', 'half \ud800'])(
  'the value %j is refused to the run that is given it',
  async (value) => {
    const given = openBoundary(vault({ TOKEN: value, OTHER: 'other-value' }), [], { secrets: ['TOKEN'], policy })
    const told = {
      code: 'SECRET_UNHIDABLE',
      message: expect.stringContaining('the value of TOKEN could not be hidden'),
    }
    await expect(given).rejects.toMatchObject(told)
    const { secrets } = await openBoundary(vault({ TOKEN: value, OTHER: 'other-value' }), [], { secrets: [], policy })
    expect(secrets.text('an other-value')).toMatch(/^an secret:ku_/)
  },
)

test('a value of the environment that has been shown once is hidden also when the environment has another or none', async () => {
  const { data, remove } = freshFolders()
  const spec = { secrets: ['TOKEN'], policy }
  const open = async (env: NodeJS.ProcessEnv, keys: readonly string[] = []) =>
    (await openBoundary(await openVault({ dataFolder: data, env }), keys, spec)).secrets
  const first = await open({ TOKEN: 'first-token' }, ['provider-key'])
  const hidden = first.text('first-token provider-key')
  await first.keep()
  for (const env of [{ TOKEN: 'second-token' }, {}, {}])
    expect((await open(env)).text('first-token provider-key')).toBe(hidden)
  remove()
})

test('a secret that is set, replaced or removed while the boundary is open is hidden after a refresh', async () => {
  const { data, remove } = freshFolders()
  const vault = await openVault({ dataFolder: data, env: {} })
  const { secrets, versions } = await openBoundary(vault, [], { secrets: [], policy })
  const elsewhere = await openVault({ dataFolder: data, env: {} })
  const shown = async () => {
    await secrets.refresh()
    return secrets.text('value-one value-two').replaceAll(/secret:ku_\w{26}/g, '#')
  }
  expect(await shown()).toBe('value-one value-two')
  await elsewhere.set('A', 'value-one')
  expect(secrets.text('value-one')).toBe('value-one')
  expect(await shown()).toBe('# value-two')
  await elsewhere.set('A', 'value-two')
  expect(await shown()).toBe('# #')
  await elsewhere.remove('A')
  expect(await shown()).toBe('# #')
  expect(Buffer.from(versions.redactBytes(Buffer.from('value-one')).value).toString()).toMatch(/^secret:ku_/)
  remove()
})
