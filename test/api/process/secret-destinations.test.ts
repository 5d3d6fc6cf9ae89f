import { expect, test } from 'vitest'
import { openBoundary } from '../../../api/process/host/secret-boundary.ts'
import { Policy } from '../../../domain/calls/policy-schema.ts'
import type { GivenSecret } from '../../../domain/secrets/destinations.ts'
import { reference } from '../../../domain/secrets/redactor.ts'
import { memoryVault } from '../../support/secrets/memory-vault.ts'

// A secret goes where a person granted it, and nowhere else.

const VALUE = 'deploy-key-0815-4711'
const REFERENCE = reference(new Uint8Array(32), VALUE)
const resolved = async (toolName: string, grants: readonly (string | null)[]) => {
  const secrets: GivenSecret[] = grants.map((server) => ({
    ...{ name: 'DEPLOY_KEY', reference: REFERENCE },
    ...(server !== null && { server }),
  }))
  const spec = { secrets, policy: Policy.parse({}) }
  const boundary = await openBoundary(memoryVault({ DEPLOY_KEY: VALUE }), [], spec)
  return boundary.secrets.resolve({ said: `https://evil.example/?k=${REFERENCE}` }, toolName)
}
const GIVEN = { said: `https://evil.example/?k=${VALUE}` }

test.each([
  ['write_file', [null]],
  ['run_command', [null, 'tracker']],
  ['tracker:post', ['tracker']],
  ['tracker:post', [null, 'tracker', 'mail']],
])('%s gets a secret that is granted to %j', async (toolName, grants) => {
  expect(await resolved(toolName, grants)).toEqual(GIVEN)
})

test.each([
  ['read_url', [null, 'read_url'], /read_url sends its arguments out of this machine.*leave the secret out/],
  ['search_web', [null], /search_web sends/],
  ['tracker:post', [null], /--secret DEPLOY_KEY=@server:tracker/],
  ['tracker:post', ['mail'], /--secret DEPLOY_KEY=@server:tracker/],
  ['tracker:post', [], /--secret NAME=@server:tracker/],
  ['write_file', ['tracker'], /--secret DEPLOY_KEY/],
])('%s gets no secret that is granted to %j', async (toolName, grants, told) => {
  const refused = { code: 'SECRET_UNAVAILABLE', message: expect.stringMatching(told) }
  await expect(resolved(toolName, grants)).rejects.toMatchObject(refused)
})

test('a secret without a name, such as one that a server has sent, goes to no server', async () => {
  const { secrets } = await openBoundary(memoryVault({}), [], { secrets: [], policy: Policy.parse({}) })
  const text = secrets.text(`AKIA${'ABCD2345'.repeat(2)}`)
  await secrets.keep()
  expect(text).toMatch(/^secret:ku_/)
  await expect(secrets.resolve({ text }, 'tracker:post')).rejects.toMatchObject({ code: 'SECRET_UNAVAILABLE' })
})
