import fc from 'fast-check'
import { expect, test } from 'vitest'
import { permitted } from '../../domain/agent/control/delegate-to-agent.ts'
import type { AgentSpec, RoleDefinition } from '../../domain/agent/definition/spec.ts'
import { matches } from '../../domain/agent/definition/tool-patterns.ts'
import { admit } from '../../domain/agent/rules/admission.ts'
import { childSpec } from '../../domain/agent/rules/child-spec.ts'
import { toolSpec } from '../support/harness.ts'
import { law } from '../support/laws.ts'
import { treeSpec } from '../support/tree/plans.ts'

// Law: no child has a right that its parent lacks, over any number of generations.

const NAMES = ['look', 'put', 'save', 'web:get', 'web:post', 'db:get']
const patterns = fc.array(fc.constantFrom('*', 'web:*', 'db:*', ...NAMES), { maxLength: 4 })

const role = (phases: readonly (readonly string[])[]): RoleDefinition => ({
  ...{ name: 'r', profile: 'p', goal: 'g', qualityGates: [], maxReactLoop: 8 },
  phases: phases.map((allowedTools, n) => ({ name: `p${n}`, allowedTools: [...allowedTools] })),
})
const roles = fc.array(patterns, { minLength: 1, maxLength: 3 }).map(role)

/** Whether an agent comes to use a tool in some phase without a person, told here a second time. */
const mayUse = ({ policy: { allowedTools, deniedTools }, role }: AgentSpec, name: string): boolean => {
  const covered = (patterns: readonly string[]) => patterns.some((pattern) => matches(pattern, name))
  const phases = role?.phases.map((phase) => phase.allowedTools) ?? [['*']]
  return covered(allowedTools) && !covered(deniedTools) && phases.some(covered)
}

test('the rights of every generation are a part of those before, and its spec may be started', async () => {
  const policies = fc.record({ allowedTools: patterns, deniedTools: patterns, requiresApproval: patterns })
  const generation = fc.array(patterns, { minLength: 1, maxLength: 3 })
  const plan = fc.tuple(policies, fc.option(roles), roles, generation)
  await law(plan, 300, ([policy, own, coder, generations]) => {
    const base = treeSpec()
    const tools = [...base.tools.filter(({ control }) => control), ...NAMES.map((name) => toolSpec(name))]
    const delegation = { ...base.delegation!, roles: { ...base.delegation!.roles, coder } }
    let parent: AgentSpec = { ...base, tools, delegation, role: own, policy: { ...base.policy, ...policy } }
    for (const constraints of generations) {
      const grant = { tokens: 10_000, nanoDollars: null, agents: 2 }
      const body = { childId: 'c', role: 'coder', task: 't', constraints, grant, tree: null }
      const child = childSpec(parent, body)!
      admit(child)
      const [before, after] = [permitted(parent), permitted(child)].map((list) => list.map(({ name }) => name)) as [
        string[],
        string[],
      ]
      expect(before).toEqual(expect.arrayContaining(after))
      expect([before, after]).toEqual([parent, child].map((spec) => NAMES.filter((name) => mayUse(spec, name))))
      // A person lifts what a child's phase refuses, not what its parent lacks.
      const parents = NAMES.filter((name) => mayUse(parent, name))
      expect(parents).toEqual(expect.arrayContaining(child.policy.allowedTools))
      if (constraints.length > 0)
        expect(child.policy.allowedTools.every((name) => constraints.some((pattern) => matches(pattern, name)))).toBe(
          true,
        )
      for (const name of child.policy.allowedTools) {
        const asks = parent.policy.requiresApproval.some((pattern) => matches(pattern, name))
        expect(
          child.policy.requiresApproval.some((pattern) => matches(pattern, name)),
          name,
        ).toBe(asks)
      }
      expect(child.policy).toMatchObject({ mode: parent.policy.mode, sandboxed: parent.policy.sandboxed })
      expect(child).toMatchObject({ contextVariables: {}, budget: { tokens: 10_000 }, delegation: { agents: 2 } })
      parent = child
    }
  })
})
