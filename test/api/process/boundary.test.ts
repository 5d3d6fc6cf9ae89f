import { describe, expect, onTestFinished, test } from 'vitest'
import { openVault } from '../../../adapters/vault/file-vault.ts'
import { openBoundary } from '../../../api/process/host/secret-boundary.ts'
import { redactRequest } from '../../../domain/agent/runtime/redact.ts'
import { Policy } from '../../../domain/calls/policy-schema.ts'
import { reference } from '../../../domain/secrets/redactor.ts'
import { AgentSpec } from '../../../domain/tree/spec.ts'
import { freshFolders } from '../../support/folders.ts'
import { spec } from '../../support/projections/spec.ts'
import { memoryVault } from '../../support/secrets/memory-vault.ts'

// A value that cannot be hidden is refused where it is given to a run, and troubles no other run.

const policy = Policy.parse({})
const given = (name: string, value = name) => ({ name, reference: reference(new Uint8Array(32), value) })

test('a value that was replaced or removed is still hidden, one that cannot be is left alone', async () => {
  const retired = { ...memoryVault({}), retired: async () => ['old-value', 'x'].map((value) => ({ name: 'A', value })) }
  const { secrets, versions } = await openBoundary(retired, [], { secrets: [], policy })
  expect(secrets.text('an old-value, x')).toMatch(/^an secret:ku_\w{26}, x$/)
  expect(Buffer.from(versions.redactBytes(Buffer.from('old-value')).value).toString()).toMatch(/^secret:ku_/)
})

test.each(['x', 'abc', ' ab ', 'cret', 'half \ud800'])(
  'the value %j is refused to the run that is given it',
  async (value) => {
    const refused = openBoundary(memoryVault({ TOKEN: value, OTHER: 'other-value' }), [], {
      secrets: [given('TOKEN')],
      policy,
    })
    const told = {
      code: 'SECRET_UNHIDABLE',
      message: expect.stringContaining('the value of TOKEN could not be hidden'),
    }
    await expect(refused).rejects.toMatchObject(told)
    const { secrets } = await openBoundary(memoryVault({ TOKEN: value, OTHER: 'other-value' }), [], {
      secrets: [],
      policy,
    })
    expect(secrets.text('an other-value')).toMatch(/^an secret:ku_/)
  },
)

test.each(['test', 'none', 'hunter2', 'password', 'Change-Me'])(
  'the value %j of another secret is left as it is, and hidden in an older run that was given it',
  async (value) => {
    const vault = memoryVault({ TOKEN: value, OTHER: 'other-value' })
    const task = `use the ${value} of the other-value`
    const start = async (secrets: ReturnType<typeof given>[]) =>
      redactRequest((await openBoundary(vault, [], { secrets, policy })).secrets, {
        kind: 'start',
        spec: { ...AgentSpec.parse(spec()), role: value },
        task,
      } as never) as { task: string }
    expect((await start([])).task).toMatch(new RegExp(`^use the ${value} of the secret:ku_`))
    await expect(start([given('TOKEN', value)])).rejects.toMatchObject({ code: 'SECRET_IN_SPEC' })
    await expect(start([given('OTHER', 'other-value')])).resolves.toBeDefined()
  },
)

test.each(['correct-horse-battery', 'qzjxkvbwtr', 'passw0rd-1', '12345678'])(
  'the value %j is hidden',
  async (value) => {
    const { secrets } = await openBoundary(memoryVault({ TOKEN: value }), [], { secrets: [], policy })
    expect(secrets.text(value)).toMatch(/^secret:ku_/)
  },
)

test('a value of the environment is hidden in every run while the environment holds it, and is kept nowhere', async () => {
  const { data, remove } = freshFolders()
  const spec = { secrets: [given('TOKEN')], policy }
  const open = async (env: NodeJS.ProcessEnv, keys: readonly string[] = []) =>
    (await openBoundary(await openVault({ dataFolder: data, env }), keys, spec)).secrets
  const first = await open({ TOKEN: 'first-token' }, ['provider-key'])
  const hidden = first.text('first-token provider-key')
  await first.keep()
  const notGiven = { secrets: [], policy }
  const other = await openBoundary(await openVault({ dataFolder: data, env: { TOKEN: 'first-token' } }), [], notGiven)
  expect(other.secrets.text('first-token')).toBe(hidden.split(' ')[0])
  // Rotated: it is known no more, as the page of the threat model says.
  for (const env of [{ TOKEN: 'second-token' }, {}]) {
    const { text } = await open(env)
    expect(text('first-token')).toBe('first-token')
  }
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

test('a short value that was replaced or removed is still hidden in a run that was given its name', async () => {
  const { data, remove } = freshFolders()
  onTestFinished(remove)
  const vault = await openVault({ dataFolder: data, env: {} })
  await vault.set('PIN', 'hunter2')
  const open = async (secrets: ReturnType<typeof given>[]) =>
    (await openBoundary(vault, [], { secrets, policy })).secrets
  const [older, other] = [await open([given('PIN')]), await open([])]
  const shown = async (boundary: typeof older) => {
    await boundary.refresh()
    return boundary.text('hunter2 hunter3').replaceAll(/secret:ku_\w{26}/g, '#')
  }
  expect(await shown(older)).toBe('# hunter3')
  await vault.set('PIN', 'hunter3')
  expect(await shown(older)).toBe('# #')
  await vault.set('PIN', 'a-much-longer-value')
  expect([await shown(older), await shown(other)]).toEqual(['# #', 'hunter2 hunter3'])
  await vault.remove('PIN')
  expect([await shown(older), await shown(await open([given('PIN')]))]).toEqual(['# #', '# #'])
})

describe("what a reference in a tool's arguments stands for", () => {
  const KEY = 'provider-key-0001'
  /** A run that was given `names` under what they hold now, and one reference of everything that was shown by then. */
  const world = async (env: NodeJS.ProcessEnv = {}) => {
    const { data, remove } = freshFolders()
    onTestFinished(remove)
    const vault = await openVault({ dataFolder: data, env })
    const key = await vault.referenceKey()
    const run = async (...names: string[]) => {
      const secrets = await Promise.all(
        names.map(async (name) => ({ name, reference: reference(key, (await vault.get(name))!) })),
      )
      const { secrets: boundary, versions } = await openBoundary(vault, [KEY], { secrets, policy })
      return {
        versions,
        hide: async (text: string) => {
          await boundary.refresh()
          const shown = boundary.text(text)
          await boundary.keep()
          return shown
        },
        resolve: async (text: string) => (await boundary.resolve({ text }, 'write_file')).text,
      }
    }
    return { vault, run, ref: (value: string) => reference(key, value) }
  }
  const refused = (why: string) => ({ code: 'SECRET_UNAVAILABLE', message: expect.stringContaining(why) })

  test('a given name, also of a value that nothing has shown before', async () => {
    const { vault, run, ref } = await world()
    await vault.set('ZZ', 'value-one')
    const given = await run('ZZ')
    expect(await given.resolve(`-H ${ref('value-one')}`)).toBe('-H value-one')
    expect(await given.resolve(await given.hide(btoa('value-one')))).toBe(btoa('value-one'))
  })

  test('not to a run that was not given the name, in no form, and not as a part of a longer text', async () => {
    const { vault, run } = await world()
    await vault.set('ZZ', 'value-one')
    const [given, other] = [await run('ZZ'), await run()]
    for (const text of ['value-one', btoa('value-one'), Buffer.from('value-one').toString('hex')]) {
      const hidden = await other.hide(text)
      expect(hidden).not.toContain(text)
      await expect(other.resolve(hidden)).rejects.toMatchObject(refused('start one with --secret ZZ'))
      expect(await given.resolve(hidden)).toBe(text)
    }
    const longer = reference(await vault.referenceKey(), 'Bearer value-one')
    await vault.remember(new Map([[longer, 'Bearer value-one']]))
    await expect(other.resolve(longer)).rejects.toMatchObject(refused('ZZ was not given to this run'))
    expect(await given.resolve(longer)).toBe('Bearer value-one')
  })

  test('a short value not to a run that was not given its name; a longer text with it is free', async () => {
    const { vault, run } = await world()
    await vault.set('PIN', 'hunter2')
    const [given, other] = [await run('PIN'), await run()]
    for (const text of ['hunter2', btoa('hunter2')]) {
      const hidden = await given.hide(text)
      expect(hidden).not.toBe(text)
      await expect(other.resolve(hidden)).rejects.toMatchObject(refused('start one with --secret PIN'))
      expect(await given.resolve(hidden)).toBe(text)
    }
    const longer = 'https://user:my-hunter2-password@host/'
    expect(await other.resolve(await other.hide(longer))).toBe(longer)
    await vault.set('PIN', 'a-much-longer-value')
    await expect(other.resolve(await given.hide('hunter2'))).rejects.toMatchObject(refused('replaced or removed'))
  })

  test('what the name holds now: another value, or none', async () => {
    const { vault, run, ref } = await world()
    await vault.set('ZZ', 'value-one')
    const given = await run('ZZ')
    const first = await given.hide('value-one')
    const encoded = await given.hide(btoa('value-one'))
    await vault.set('ZZ', 'value-two')
    expect(await given.resolve(first)).toBe('value-two')
    expect(await given.resolve(await given.hide('value-two'))).toBe('value-two')
    await expect(given.resolve(encoded)).rejects.toMatchObject(refused('replaced or removed'))
    await vault.remove('ZZ')
    await expect(given.resolve(first)).rejects.toMatchObject(refused('ZZ holds no value any more'))
    await expect(given.resolve(ref('value-two'))).rejects.toMatchObject(refused('replaced or removed'))
    await expect((await run()).resolve(first)).rejects.toMatchObject(refused('replaced or removed'))
    // Files that held it are restored as they were.
    expect(given.versions.resolve(first)).toBe('value-one')
  })

  test("of the environment, and a provider's key, by the same rule", async () => {
    const { run } = await world({ TOKEN: 'token-of-env' })
    const [given, other] = [await run('TOKEN'), await run()]
    const hidden = await given.hide('token-of-env')
    expect(await given.resolve(hidden)).toBe('token-of-env')
    await expect(other.resolve(hidden)).rejects.toMatchObject(refused('was not given to this run'))
    await expect(given.resolve(await given.hide(KEY))).rejects.toMatchObject(refused("a provider's key"))
  })

  test('what was found by its shape has no name, and is for every holder of its reference', async () => {
    const { vault, run } = await world()
    await vault.set('ZZ', 'value-one')
    const other = await run()
    const url = 'https://user:some-password@host/'
    const hidden = await other.hide(url)
    expect(hidden).not.toBe(url)
    expect(await other.resolve(hidden)).toBe(url)
    const unknown = `secret:ku_${'0'.repeat(26)}`
    await expect(other.resolve(unknown)).rejects.toMatchObject(refused('does not hold it'))
  })
})
