import { expect, test } from 'vitest'
import { openBoundary } from '../../api/host/boundary.ts'
import { Policy } from '../../domain/agent/spec/spec.ts'
import type { Vault } from '../../domain/ports.ts'

// A value that cannot be hidden is refused where it is given to a run, and is nobody else's trouble.

const vault = (values: Record<string, string>): Vault => ({
  get: async (name) => values[name] ?? null,
  set: async () => undefined,
  remove: async () => false,
  names: async () => Object.keys(values),
  retired: async () => [],
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
