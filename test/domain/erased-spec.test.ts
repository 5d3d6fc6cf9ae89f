import { expect, test } from 'vitest'
import { withoutText } from '../../domain/tree/erased-spec.ts'
import { AgentSpec } from '../../domain/tree/spec.ts'
import { testSpec } from '../support/harness.ts'

test('an erased spec keeps no words of its roles', () => {
  const role = {
    ...{ name: 'coder', profile: 'PRIVATE', goal: 'PRIVATE', prompt: 'PRIVATE', qualityGates: [], maxReactLoop: 3 },
    phases: [{ name: 'work', allowedTools: ['*'] }],
  }
  const spec = AgentSpec.parse({ ...testSpec(), role, delegation: { roles: { coder: role } } })
  expect(JSON.stringify(spec).split('PRIVATE')).toHaveLength(7)
  expect(JSON.stringify(withoutText(spec))).not.toContain('PRIVATE')
})
