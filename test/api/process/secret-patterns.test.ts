import { expect, test } from 'vitest'
import { openBoundary } from '../../../api/process/host/secret-boundary.ts'
import { redactRequest } from '../../../domain/agent/runtime/redact.ts'
import { Policy } from '../../../domain/calls/policy-schema.ts'
import { AgentSpec } from '../../../domain/tree/spec.ts'
import { spec } from '../../support/projections/spec.ts'
import { memoryVault } from '../../support/secrets/memory-vault.ts'

const VALUE = 'deploy-key-0815-4711'

/** A start under a policy with these patterns, as it would be recorded. */
async function started(secretPatterns: string[], task: string, more: object = {}) {
  const asked = { ...AgentSpec.parse(spec()), policy: Policy.parse({ secretPatterns }), secrets: [], ...more }
  const { secrets } = await openBoundary(memoryVault({ DEPLOY_KEY: VALUE }), [], asked)
  return redactRequest(secrets, { kind: 'start', spec: asked, task } as never) as { task: string; spec: AgentSpec }
}

test.each(['internal-\\w*', 'corp'])('a pattern that matches its own source, %s, refuses no start', async (source) => {
  const found = await started([source], 'read internal-report of corp')
  expect(found.spec.policy.secretPatterns).toEqual([source])
  expect(found.task).toContain('secret:ku_')
})

test('a pattern that matches the definition of a role is named as the reason, and not a secret in the role', async () => {
  const role = { role: { name: 'Reviewer of corp' } }
  const refused = (patterns: string[], more: object) => expect(started(patterns, 'go', more)).rejects
  await refused(['corp'], role).toMatchObject({
    code: 'SECRET_IN_SPEC',
    message: expect.stringMatching(/^role holds a text that counts as a secret.*pattern of policy\.secretPatterns/),
  })
  await refused([], { role: { name: VALUE } }).toMatchObject({
    message: expect.stringMatching(/^role holds the value of/),
  })
})

test('a pattern that holds the value of a secret is refused', async () => {
  await expect(started([`^${VALUE}$`], 'go')).rejects.toMatchObject({ code: 'SECRET_IN_SPEC' })
})
